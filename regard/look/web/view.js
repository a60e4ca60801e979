// One viewer for every trace: the views, and tabs for those that fit.

import { arcs } from "./arcs.js";
import { alongLine, h, roving } from "./dom.js";
import { heads } from "./heads.js";
import { matrix } from "./matrix.js";
import { overlay } from "./overlay.js";
import { timeline } from "./timeline.js";
import { tree } from "./tree.js";

export { arcs, heads, matrix, overlay, timeline, tree };

const NAMES = {
  overlay: "Picture", timeline: "Time", arcs: "Arcs", matrix: "Matrix", heads: "Heads", tree: "Search",
};
let count = 0;

/** The names of the views that a trace has something for. */
export function fitting(trace, image) {
  const seen = Boolean(trace.alignment?.length);
  const several = (trace.weights?.length ?? 0) * (trace.weights?.[0]?.length ?? 0) > 1;
  const text = trace.kind === "text";
  const fits = {
    overlay: trace.kind === "picture" && Boolean(image),
    timeline: trace.kind === "time" && seen,
    arcs: text && seen,
    matrix: text && seen,
    heads: several,
    tree: Boolean(trace.search?.forks.length),
  };
  return Object.keys(NAMES).filter((name) => fits[name]);
}

/**
 * Tabs with the views that fit.
 * @param {HTMLElement} el
 * @param {import("./trace.js").Trace & {image?: string}} trace
 * @param {{view?: string, image?: string, label?: string, onview?: (name: string) => void} &
 *   Record<string, any>} [opts] the rest is for the views
 */
export function show(el, trace, opts = {}) {
  const image = opts.image ?? trace.image;
  const views = fitting(trace, image);
  const box = h("div", { class: "rv" });
  el.replaceChildren(box);
  if (!trace.alignment?.length) {
    box.append(h("p", { class: "rv-note" }, "This model has no attention: there is nowhere that it looked."));
  }
  if (!views.length) return;
  const id = `rv-${++count}`;
  const body = h("div", { class: "rv-body", role: "tabpanel", id: `${id}-panel` });
  const tabs = views.map((name) =>
    h("button", { type: "button", role: "tab", id: `${id}-${name}`, "aria-controls": body.id }, NAMES[name]),
  );
  function open(index, told) {
    tabs.forEach((tab, place) => {
      tab.setAttribute("aria-selected", String(place === index));
      tab.tabIndex = place === index ? 0 : -1;
    });
    body.setAttribute("aria-labelledby", tabs[index].id);
    draw(views[index], body, trace, image, opts);
    if (told) opts.onview?.(views[index]);
  }
  roving(tabs, alongLine(tabs.length));
  tabs.forEach((tab, index) => {
    tab.addEventListener("click", () => open(index, true));
    tab.addEventListener("focus", () => tab.getAttribute("aria-selected") === "false" && open(index, true));
  });
  if (views.length > 1) box.append(h("div", { role: "tablist", class: "rv-tabs", "aria-label": opts.label ?? "views" }, tabs));
  else body.removeAttribute("role");
  box.append(body);
  open(Math.max(0, views.indexOf(opts.view)), false);
}

function draw(name, body, trace, image, opts) {
  if (name === "overlay") return overlay(body, trace, image, opts);
  if (name !== "heads") return { arcs, matrix, timeline, tree }[name](body, trace, opts);
  // A head of a picture or of a sound is enlarged onto what it looked at.
  const one = {
    picture: (el, part) => (image ? overlay(el, part, image) : el.replaceChildren()),
    time: timeline,
    text: matrix,
  }[trace.kind];
  return heads(body, trace, { ...opts, draw: one });
}
