// Every head of every layer as a small matrix.

import { h, number, root, roving } from "./dom.js";
import { matrix, scale } from "./matrix.js";
import { ceiling, paint, ramp, themed } from "./theme.js";
import { diagonality, entropy } from "./trace.js";

/**
 * Small multiples of all layers and heads; a frame marks the sharpest and the one that follows the
 * order best. Click one to enlarge it.
 * @param {HTMLElement} el
 * @param {import("./trace.js").Trace} trace
 * @param {{draw?: (el: HTMLElement, trace: any, opts: any) => void}} [opts] how one is enlarged
 */
export function heads(el, trace, opts = {}) {
  const view = root(el, "heads");
  const { weights } = trace;
  const all = weights.flatMap((layer, l) => layer.map((rows, k) => measured(rows, l, k)));
  const sharpest = all.reduce((a, b) => (b.entropy < a.entropy ? b : a));
  const straightest = all.reduce((a, b) => (b.diagonality > a.diagonality ? b : a));
  const top = ceiling(all.flatMap(({ rows }) => rows));
  const large = h("div", { class: "rv-large" });
  const buttons = all.map((head) => panel(head, head === sharpest, head === straightest));
  const columns = weights[0].length;
  view.append(
    h(
      "p",
      { class: "rv-note" },
      `${weights.length} × ${columns} heads. Sharpest (lowest entropy): layer ${sharpest.layer + 1}, `,
      `head ${sharpest.head + 1}. Closest to the order of the input: layer ${straightest.layer + 1}, `,
      `head ${straightest.head + 1}. `, scale(top),
    ),
    h("div", { class: "rv-scroll" }, h("div", { class: "rv-grid", style: { "--columns": String(columns) } }, buttons)),
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
    all.forEach(({ rows }, index) => paint(buttons[index].querySelector("canvas"), rows, top, colours));
  });
  open(all.indexOf(sharpest));
}

function measured(rows, layer, head) {
  return { rows, layer, head, entropy: entropy(rows), diagonality: diagonality(rows) };
}

function panel({ layer, head, rows, entropy: spread, diagonality: straight }, sharpest, straightest) {
  const marks = [sharpest && "sharpest", straightest && "follows the order"].filter(Boolean);
  const facts = `entropy ${number(spread)}, order ${number(straight)}`;
  return h(
    "button",
    {
      type: "button",
      class: sharpest ? "rv-head rv-best" : straightest ? "rv-head rv-straight" : "rv-head",
      "aria-pressed": "false",
      "aria-label": [`layer ${layer + 1}, head ${head + 1}`, ...marks, facts].join(", "),
      title: facts,
    },
    h("canvas", { style: { "aspect-ratio": `${rows[0].length} / ${rows.length}` } }),
    h("small", null, `${layer + 1}.${head + 1}`, marks.length ? ` ${marks.join(", ")}` : ""),
  );
}
