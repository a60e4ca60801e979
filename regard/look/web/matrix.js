// The alignment matrix: row t, column j has the weight of source j for target t.

import { h, number, root, toggle, word } from "./dom.js";
import { ceiling } from "./theme.js";
import { between, direction, groups, mergeable, mergedAtFirst, strongest } from "./trace.js";

/**
 * A grid of weights with words on both axes; hover or focus a cell for its number.
 * @param {HTMLElement} el
 * @param {import("./trace.js").Trace} trace
 * @param {{merged?: boolean, onmerged?: (on: boolean) => void, name?: string}} [opts]
 */
export function matrix(el, trace, opts = {}) {
  const { source, target } = trace;
  const view = root(el, "matrix");
  const said = h("output", { class: "rv-readout" });
  const grid = h("div", { class: "rv-scroll" });
  let merged = opts.merged ?? mergedAtFirst(source, target);
  const tools = h("div", { class: "rv-tools" });
  const bar = h("span", null);
  if (mergeable(source, target)) {
    tools.append(toggle("whole words", merged, (on) => ((merged = on), opts.onmerged?.(on), draw())));
  }
  tools.append(bar, said);
  view.append(tools, grid);

  function draw() {
    const columns = groups(source, merged);
    const rows = groups(target, merged);
    const weights = between(trace.alignment, rows, columns);
    const top = ceiling(weights);
    const table = tableOf(rows, columns, weights, top, opts.name ?? "Where each word looked");
    grid.replaceChildren(table);
    bar.replaceChildren(scale(top));
    listen(table, rows, columns, weights, said);
  }
  draw();
}

/** The colours with their two ends. */
export function scale(top) {
  return h(
    "span",
    { class: "rv-scale", "aria-hidden": "true" },
    "0", h("i", null), String(top),
  );
}

function tableOf(rows, columns, weights, top, name) {
  const longest = Math.max(...columns.map((column) => columnWidth(column.label)));
  const flat = longest <= 2;
  const size = columns.length > 40 || rows.length > 40 ? 20 : 26;
  const names = columns.map((column) => column.label);
  return h(
    "table",
    {
      role: "grid",
      "aria-label": name,
      "aria-readonly": "true",
      class: flat ? "rv-flat" : "rv-leaning",
      style: { "--longest": String(Math.min(longest, 18)), "--cell": `${size}px` },
    },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("td", { class: "rv-corner" }),
        columns.map((column) =>
          h("th", { scope: "col", class: column.end && "rv-end" }, h("span", null, word(column.label))),
        ),
      ),
    ),
    h(
      "tbody",
      null,
      rows.map((row, t) =>
        h(
          "tr",
          { class: row.end && "rv-end" },
          h(
            "th",
            { scope: "row", dir: direction([row.label]), title: strongest(weights[t], names) },
            word(row.label),
          ),
          weights[t].map((weight, j) =>
            h(
              "td",
              {
                class: columns[j].end && "rv-end",
                tabindex: t || j ? "-1" : "0",
                style: { "--w": String(Math.min(weight / top, 1).toFixed(3)) },
              },
              h("span", { class: "rv-hidden" }, number(weight)),
            ),
          ),
        ),
      ),
    ),
  );
}

const WIDE = /[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]/;

/** About how many letters' width a label takes: a Chinese sign is as wide as two letters. */
function columnWidth(text) {
  return [...text].reduce((sum, sign) => sum + (WIDE.test(sign) ? 1.8 : 1), 0);
}

function listen(table, rows, columns, weights, said) {
  const cells = [...table.tBodies[0].rows].map((row) => [...row.cells].slice(1));
  const heads = [...table.tHead.rows[0].cells].slice(1);
  const sides = [...table.tBodies[0].rows].map((row) => row.cells[0]);
  function place(event) {
    const cell = event.target.closest("tbody td");
    return cell ? [cell.parentElement.rowIndex - 1, cell.cellIndex - 1] : null;
  }
  function light([t, j], on) {
    for (const label of [heads[j], sides[t]]) label.classList.toggle("rv-lit", on);
    said.replaceChildren();
    if (on) {
      said.append(
        word(rows[t].label), " looked at ", word(columns[j].label), ": ",
        h("b", null, number(weights[t][j], weights[t][j] < 0.1 ? 3 : 2)),
      );
    }
  }
  for (const [begin, finish] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
    table.addEventListener(begin, (event) => place(event) && light(place(event), true));
    table.addEventListener(finish, (event) => place(event) && light(place(event), false));
  }
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  table.addEventListener("keydown", (event) => {
    const at = place(event);
    if (!at) return;
    const [t, j] = at;
    let next = null;
    if (moves[event.key]) next = cells[t + moves[event.key][0]]?.[j + moves[event.key][1]];
    else if (event.key === "Home") next = cells[t][0];
    else if (event.key === "End") next = cells[t].at(-1);
    if (!next) return;
    event.preventDefault();
    cells[t][j].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}
