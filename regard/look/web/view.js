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
 * @param {import("./trace.js").Trace & {image?: string}} first
 * @param {{view?: string, image?: string, label?: string, merged?: boolean,
 *   onview?: (name: string) => void} & Record<string, any>} [options] the rest is for the views
 * @returns {{light: (token: number | null) => void, update: (trace: any, more: any) => void}}
 *   `light` shows where a target token looked; `update` shows another trace in the same tabs
 */
export function show(el, first, options = {}) {
  const opts = { ...options, onmerged: (on) => (opts.merged = on) };
  const id = `rv-${++count}`;
  const note = h("p", { class: "rv-note" }, "This model has no attention: there is nowhere that it looked.");
  const bar = h("div", { role: "tablist", class: "rv-tabs", "aria-label": opts.label ?? "views" });
  const body = h("div", { class: "rv-body", role: "tabpanel", id: `${id}-panel` });
  el.replaceChildren(h("div", { class: "rv" }, note, bar, body));
  let trace, views = [], open = "", drawn;

  function choose(name, told) {
    open = name;
    for (const tab of bar.children) {
      const own = tab.id === `${id}-${name}`;
      tab.setAttribute("aria-selected", String(own));
      tab.tabIndex = own ? 0 : -1;
    }
    if (name) body.setAttribute("aria-labelledby", `${id}-${name}`);
    if (told) opts.onview?.((opts.view = name));
    drawn = name ? draw(name, body, trace, opts) : body.replaceChildren();
  }
  function tab(name) {
    const listen = () => open === name || choose(name, true);
    const names = { role: "tab", id: `${id}-${name}`, "aria-controls": body.id };
    return h("button", { type: "button", ...names, onclick: listen, onfocus: listen }, NAMES[name]);
  }
  function update(next, more = {}) {
    trace = next;
    Object.assign(opts, more);
    opts.image = more.image ?? options.image ?? trace.image;
    const fits = fitting(trace, opts.image);
    note.hidden = Boolean(trace.alignment?.length);
    // While an answer comes about, what is only known at its end stays as it was.
    if (opts.latest && views.length) return fits.includes(open) ? choose(open) : undefined;
    if (fits.join() !== views.join()) {
      views = fits;
      const tabs = views.map(tab);
      bar.replaceChildren(...tabs);
      bar.hidden = views.length < 2;
      roving(tabs, alongLine(tabs.length));
    }
    return choose(views.includes(opts.view) ? opts.view : (views[0] ?? ""));
  }
  update(first);
  return { update, light: (token) => drawn?.light?.(token) };
}

function draw(name, body, trace, opts) {
  const { image } = opts;
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
