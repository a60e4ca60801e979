// A search's list of forks, joined into a tree.

/**
 * @typedef {Object} Node
 * @property {number} step
 * @property {number} row its place among the forks of its step, best first
 * @property {number} line the line to draw it on: pruned ones begin below the width of the beam
 * @property {string} token
 * @property {number} logProb of the whole sequence up to here
 * @property {boolean} kept
 * @property {boolean} ended
 * @property {number} score what the search ranks by, if the sequence ends here
 * @property {number} lost by how much a pruned fork fell short of the last one that was kept
 * @property {Node|null} parent
 * @property {Node[]} children
 */

/**
 * Columns of nodes, the answer's path, greedy's path as far as the beam saw it, and the first step
 * where they part (null if they do not).
 */
export function grow(search) {
  /** @type {Node[]} */
  const nodes = search.forks.map(([step, place, token, logProb, kept, ended, score]) => ({
    step, place, token, logProb, kept, ended, score, row: 0, line: 0, lost: 0, parent: null, children: [],
  }));
  /** @type {Node[][]} */
  const columns = [];
  for (const node of nodes) (columns[node.step] ??= []).push(node);
  columns.forEach((column, step) => {
    const before = step ? columns[step - 1].filter((node) => node.kept && !node.ended) : [];
    const kept = column.filter((node) => node.kept);
    const last = Math.min(...kept.map((node) => node.logProb));
    column.forEach((node, row) => {
      node.row = row;
      // With a forced beginning or few symbols, fewer are kept than the beam is wide.
      node.line = node.kept ? kept.indexOf(node) : search.width + row - kept.length;
      node.lost = node.kept ? 0 : last - node.logProb;
      node.parent = before[node.place] ?? null;
      node.parent?.children.push(node);
    });
  });
  const best = search.best.map((index) => nodes[index]);
  const greedy = greedyPath(columns[0] ?? []);
  // An answer that the search did not find by itself has no path in it.
  const parts = best.length ? greedy.findIndex((node, step) => node !== best[step]) : -1;
  return { nodes, columns, best, greedy, parts: parts < 0 ? null : parts };
}

/** At every step the likeliest next symbol, until it ends or the beam lost sight of it. */
function greedyPath(first) {
  const path = [];
  let among = first;
  while (among.length) {
    const next = among.reduce((a, b) => (b.logProb > a.logProb ? b : a));
    path.push(next);
    among = next.children;
  }
  return path;
}

/** A node with all that stands before it, the first step first. */
export function lineage(node) {
  const path = [];
  for (let at = node; at; at = at.parent) path.unshift(at);
  return path;
}
