// Every head of every layer as a small matrix.

import { h, number, root, roving } from "./dom.js";
import { matrix, scale } from "./matrix.js";
import { ceiling, paint, ramp, themed } from "./theme.js";
import { diagonality, entropy } from "./trace.js";

/**
 * Small multiples of all layers and heads; a frame marks the sharpest and, in texts, the one that
 * follows the order best. Click one to enlarge it. A picture's heads are the mean of all words.
 * @param {HTMLElement} el
 * @param {import("./trace.js").Trace} trace
 * @param {{draw?: (el: HTMLElement, trace: any, opts: any) => void}} [opts] how one is enlarged
 */
export function heads(el, trace, opts = {}) {
  const view = root(el, "heads");
  const { weights } = trace;
  const all = weights.flatMap((layer, l) => layer.map((rows, k) => measured(rows, l, k)));
  const { kind, source } = trace;
  const best = (measure) => all.reduce((a, b) => (measure(b) > measure(a) ? b : a));
  const sharpest = best((head) => -head.entropy);
  const straightest = kind === "text" ? best((head) => head.diagonality) : null;
  const maps = all.map(({ rows }) => (kind === "picture" ? field(rows, source.grid) : rows));
  const top = ceiling(maps.flat());
  const large = h("div", { class: "rv-large" });
  const buttons = all.map((head, i) => panel(head, maps[i], head === sharpest, head === straightest));
  const columns = weights[0].length;
  view.append(
    h(
      "p",
      { class: "rv-note" },
      `${weights.length} × ${columns} heads. Sharpest (lowest entropy): ${named(sharpest)}. `,
      straightest && `Closest to the order of the input: ${named(straightest)}. `, scale(top),
    ),
    h(
      "div",
      { class: "rv-scroll" },
      h("div", { class: "rv-grid", style: { "--columns": String(columns) } }, buttons),
    ),
    large,
  );
  roving(buttons, (index, key) => {
    const row = Math.floor(index / columns);
    if (key === "ArrowRight" && index % columns < columns - 1) return index + 1;
    if (key === "ArrowLeft" && index % columns) return index - 1;
    if (key === "ArrowDown" && row < weights.length - 1) return index + columns;
    return key === "ArrowUp" && row ? index - columns : null;
  });
  const open = (index) => {
    buttons.forEach((button, place) => button.setAttribute("aria-pressed", String(place === index)));
    const { layer, head, rows } = all[index];
    const name = `Layer ${layer + 1}, head ${head + 1}`;
    const body = h("div", null);
    large.replaceChildren(h("h3", null, name), body);
    (opts.draw ?? matrix)(body, { ...trace, alignment: rows }, { name });
  };
  buttons.forEach((button, index) => button.addEventListener("click", () => open(index)));
  themed(view, () => {
    const colours = ramp(view);
    maps.forEach((map, i) => paint(buttons[i].querySelector("canvas"), map, top, colours));
  });
  open(all.indexOf(sharpest));
}

function measured(rows, layer, head) {
  return { rows, layer, head, entropy: entropy(rows), diagonality: diagonality(rows) };
}

function named({ layer, head }) {
  return `layer ${layer + 1}, head ${head + 1}`;
}

/** The mean of all words' weights, laid out on the grid. */
function field(rows, [lines, columns]) {
  const mean = rows[0].map((_, j) => rows.reduce((sum, row) => sum + row[j], 0) / rows.length);
  return Array.from({ length: lines }, (_, i) => mean.slice(i * columns, (i + 1) * columns));
}

function panel(measures, map, sharpest, straightest) {
  const { layer, head, entropy: spread, diagonality: straight } = measures;
  const marks = [sharpest && "sharpest", straightest && "follows the order"].filter(Boolean);
  const facts = `entropy ${number(spread)}, order ${number(straight)}`;
  return h(
    "button",
    {
      type: "button",
      class: sharpest ? "rv-head rv-best" : straightest ? "rv-head rv-straight" : "rv-head",
      "aria-pressed": "false",
      "aria-label": [named(measures), ...marks, facts].join(", "),
      title: facts,
    },
    h("canvas", { style: { "aspect-ratio": `${map[0].length} / ${map.length}` } }),
    h("small", null, `${layer + 1}.${head + 1}`, marks.length ? ` ${marks.join(", ")}` : ""),
  );
}
