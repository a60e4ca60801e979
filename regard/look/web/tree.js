// The search tree: every fork that a beam considered, what it kept and what it pruned.

import { h, number, root, roving, svg, toggle, word } from "./dom.js";
import { grow, lineage } from "./grow.js";
import { label } from "./trace.js";

const LEAVES = "; here greedy search leaves the answer";
// Pixels: a column and a row of nodes, a node's width, the line with the steps, and the gap between
// what was kept and what was pruned.
const COLUMN = 148, ROW = 30, NODE = 112, TOP = 28, GAP = 26;

/**
 * Columns are steps, best first; above the line kept, below it pruned, with by how much.
 * @param {HTMLElement} el
 * @param {import("./trace.js").Trace} trace
 * @param {{pruned?: boolean}} [opts]
 */
export function tree(el, trace, opts = {}) {
  const view = root(el, "tree");
  const grown = grow(trace.search);
  const { width } = trace.search;
  const said = h("output", { class: "rv-readout" });
  const field = h("div", { class: "rv-field" });
  const flip = (on) => view.classList.toggle("rv-kept-only", !on);
  const pruned = opts.pruned ?? true;
  view.append(
    h("p", { class: "rv-note" }, summary(grown, width)),
    h("div", { class: "rv-tools" }, toggle("show what was pruned", pruned, flip), said),
    h("div", { class: "rv-scroll" }, field),
    legend(),
  );
  flip(pruned);
  const marks = { best: new Set(grown.best), greedy: new Set(grown.greedy), parts: grown.parts };
  const buttons = new Map(grown.nodes.map((node) => [node, nodeButton(node, marks)]));
  const edges = new Map(grown.nodes.map((node) => [node, edge(node, marks)]));
  const lines = Math.max(...grown.nodes.map((node) => node.line + 1));
  field.style.setProperty("width", `${grown.columns.length * COLUMN}px`);
  field.style.setProperty("--all", `${TOP + lines * ROW + GAP + 8}px`);
  field.style.setProperty("--kept", `${TOP + width * ROW + 6}px`);
  const border = `${TOP + width * ROW + GAP / 2 - 4}px`;
  const faintFirst = [...grown.nodes].sort((a, b) => strength(a, marks) - strength(b, marks));
  field.append(
    svg("svg", { "aria-hidden": "true" }, faintFirst.map((node) => edges.get(node))),
    h("div", { class: "rv-line-of-life", style: { top: border } }, h("span", null, "pruned")),
    ...grown.columns.map((_, step) =>
      h("span", { class: "rv-step", style: { left: `${step * COLUMN}px` } }, String(step + 1)),
    ),
    ...buttons.values(),
  );
  listen(grown, buttons, edges, said);
}

function left(node) {
  return node.step * COLUMN + (COLUMN - NODE) / 2;
}

/** The middle of a node's line. */
function height(node) {
  return TOP + node.line * ROW + (node.kept ? 0 : GAP) + ROW / 2;
}

function strength(node, { best, greedy }) {
  return best.has(node) ? 3 : greedy.has(node) ? 2 : node.kept ? 1 : 0;
}

function kind(node, { best, greedy, parts }) {
  const classes = [node.kept ? "rv-kept" : "rv-pruned"];
  if (node.ended) classes.push("rv-ended");
  if (best.has(node)) classes.push("rv-answer");
  else if (greedy.has(node) && parts !== null && node.step >= parts) classes.push("rv-greedy");
  return classes.join(" ");
}

function nodeButton(node, marks) {
  const name = node.ended ? "end" : label([node.token]);
  const small = node.ended && node.kept ? node.score : node.kept ? node.logProb : -node.lost;
  const leaves = marks.greedy.has(node) && node.step === marks.parts;
  return h(
    "button",
    {
      type: "button",
      class: `rv-node ${kind(node, marks)}`,
      style: { left: `${left(node)}px`, top: `${height(node) - ROW / 2 + 2}px` },
      "aria-label": `step ${node.step + 1}: ${described(node, name)}${leaves ? LEAVES : ""}`,
    },
    word(name), h("small", null, number(small)), leaves && h("em", null, "greedy"),
  );
}

function described(node, name) {
  const fate = node.kept
    ? node.ended ? `finished with score ${number(node.score)}` : "kept"
    : `pruned, ${number(node.lost)} below the last that was kept`;
  return `${name}, ${fate}, log probability ${number(node.logProb)}`;
}

function edge(node, marks) {
  if (!node.parent) return svg("path", { class: kind(node, marks) });
  const [x, y] = [left(node.parent) + NODE, height(node.parent)];
  const [u, v] = [left(node), height(node)];
  const middle = (x + u) / 2;
  return svg("path", { class: kind(node, marks), d: `M${x} ${y}C${middle} ${y} ${middle} ${v} ${u} ${v}` });
}

function text(path) {
  return label([path.filter((node) => !node.ended).map((node) => node.token).join("")]);
}

/** What happened, in words. */
function summary({ nodes, best, greedy, parts, columns }, width) {
  const kept = nodes.filter((node) => node.kept).length;
  const steps = `${nodes.length} forks in ${columns.length} steps`;
  const begin = `A beam of ${width} looked at ${steps} and kept ${kept}.`;
  const answer = best.at(-1);
  if (!answer) return begin;
  const score = answer.ended ? ` The answer ends with score ${number(answer.score)}.` : "";
  if (parts === null) return `${begin}${score} Greedy search would have said the same.`;
  const [other, own, last] = [greedy[parts], best[parts], greedy.at(-1)];
  const fate = last.ended && last.kept
    ? `ends with score ${number(last.score)}`
    : last.kept ? `drops out of the beam after step ${last.step + 1}` : `is pruned at step ${last.step + 1}`;
  const said = (node) => `“${node.ended ? "end" : label([node.token])}” (${number(node.logProb)})`;
  const answers = own ? said(own) : "had ended";
  const leaves = `Greedy search leaves the answer at step ${parts + 1}`;
  return `${begin}${score} ${leaves}: it says ${said(other)}, the answer ${answers}. Its way ${fate}.`;
}

function legend() {
  const item = (name, words) => h("span", null, h("i", { class: name }), words);
  return h(
    "p",
    { class: "rv-note rv-legend" },
    item("rv-answer", "the answer"),
    item("rv-greedy", "greedy, where it leaves the answer"),
    item("rv-kept", "kept, with log probability so far"),
    item("rv-pruned", "pruned, with how much it lacked"),
    item("rv-ended", "ended, with score"),
  );
}

function listen({ nodes, columns }, buttons, edges, said) {
  const all = nodes.map((node) => buttons.get(node));
  roving(all, (index, key) => {
    const node = nodes[index];
    const column = columns[node.step];
    if (key === "ArrowLeft") return nodes.indexOf(node.parent);
    if (key === "ArrowRight") return nodes.indexOf(node.children[0]);
    if (key === "ArrowUp") return nodes.indexOf(column[node.row - 1]);
    return key === "ArrowDown" ? nodes.indexOf(column[node.row + 1]) : null;
  });
  const light = (node, on) => {
    const path = lineage(node);
    for (const one of path) {
      buttons.get(one).classList.toggle("rv-lit", on);
      edges.get(one).classList.toggle("rv-lit", on);
    }
    const name = node.ended ? "end" : label([node.token]);
    said.replaceChildren(...(on ? [word(text(path)), ` · ${described(node, name)}`] : []));
  };
  nodes.forEach((node) => {
    const button = buttons.get(node);
    for (const event of ["pointerenter", "focus"]) button.addEventListener(event, () => light(node, true));
    for (const event of ["pointerleave", "blur"]) button.addEventListener(event, () => light(node, false));
  });
}
