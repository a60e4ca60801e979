// Source words above, target words below, and an arc for every look.

import { alongLine, h, number, root, roving, svg, toggle, word } from "./dom.js";
import { between, direction, groups, mergeable, mergedAtFirst, strongest } from "./trace.js";

const FAINTEST = 0.04;
/** Below this width, in pixels, the two lines stand side by side. */
const NARROW = 560;

/**
 * Hover or focus a word, and what it looked at lights up; a source word, and who looked at it.
 * @param {HTMLElement} el
 * @param {import("./trace.js").Trace} trace
 * @param {{merged?: boolean, onmerged?: (on: boolean) => void, latest?: boolean, fixed?: number,
 *   onword?: (group: any, button: HTMLElement) => void}} [opts] `latest`: the last word is lit, as
 *   it has just been said; `fixed`: how many of the first target tokens were given
 * @returns {{light: (token: number | null) => void}} light the word of a target token from outside
 */
export function arcs(el, trace, opts = {}) {
  const { source, target } = trace;
  const view = root(el, "arcs");
  const state = { merged: opts.merged ?? mergedAtFirst(source, target), light: () => {} };
  const stage = h("div", { class: "rv-scroll rv-stage" });
  if (mergeable(source, target)) {
    const flip = (on) => ((state.merged = on), opts.onmerged?.(on), draw());
    view.append(h("div", { class: "rv-tools" }, toggle("whole words", state.merged, flip)));
  }
  view.append(stage);
  function draw() {
    state.light = lines(stage, trace, state.merged, opts);
  }
  draw();
  return { light: (token) => state.light(token) };
}

function lines(stage, trace, merged, opts) {
  const above = groups(trace.source, merged);
  const below = groups(trace.target, merged);
  const weights = between(trace.alignment, below, above);
  const curves = svg("svg", { "aria-hidden": "true" });
  const names = [above, below].map((side) => side.map((group) => group.label));
  const sources = above.map((group, j) => button(group, `looked at by ${readBy(weights, j, names[1])}`));
  const targets = below.map((group, t) => {
    const made = button(group, `looked at ${strongest(weights[t], names[0])}`);
    if (group.first < (opts.fixed ?? 0)) made.classList.add("rv-fixed");
    return made;
  });
  stage.replaceChildren(
    h("div", { class: "rv-line", role: "group", "aria-label": "input", dir: direction(names[0]) }, sources),
    curves,
    h("div", { class: "rv-line", role: "group", "aria-label": "output", dir: direction(names[1]) }, targets),
  );
  const paths = connect(curves, weights);
  const layout = () => place(stage, curves, paths, sources, targets);
  new ResizeObserver(layout).observe(stage);
  const light = lighter(stage, paths, weights, sources, targets);
  listen(sources, targets, light, below, opts);
  layout();
  const resting = opts.latest && targets.length ? targets.length - 1 : null;
  light(resting, null);
  return (token) => {
    const found = below.findIndex((group) => group.first <= token && token < group.behind);
    light(token === null ? resting : found, null);
  };
}

function button(group, description) {
  return h(
    "button",
    {
      type: "button",
      class: group.end ? "rv-word rv-end" : "rv-word",
      "aria-label": `${group.label}, ${description}`,
    },
    word(group.label), h("small", { "aria-hidden": "true" }),
  );
}

function readBy(weights, j, names) {
  return strongest(weights.map((row) => row[j]), names) || "nothing";
}

/** One curve for each weight that could be seen, the strongest last. */
function connect(curves, weights) {
  const paths = [];
  weights.forEach((row, t) =>
    row.forEach((weight, j) => {
      if (weight < FAINTEST) return;
      const path = svg("path", { style: { "--w": weight.toFixed(3) } });
      paths.push({ t, j, weight, path });
    }),
  );
  paths.sort((a, b) => a.weight - b.weight);
  curves.append(...paths.map(({ path }) => path));
  return paths;
}

/** Put the curves where the words are: between two lines, or two columns where it is narrow. */
function place(stage, curves, paths, sources, targets) {
  if (!stage.isConnected || !sources.length) return;
  stage.classList.remove("rv-upright");
  const crowded = stage.firstElementChild.scrollWidth > stage.clientWidth + 1;
  stage.classList.toggle("rv-upright", stage.clientWidth < NARROW || crowded);
  const upright = stage.classList.contains("rv-upright");
  const frame = curves.getBoundingClientRect();
  const box = (button) => {
    const { left, top, width, height } = button.getBoundingClientRect();
    return upright ? top + height / 2 - frame.top : left + width / 2 - frame.left;
  };
  const [from, to] = [sources.map(box), targets.map(box)];
  const depth = upright ? frame.width : frame.height;
  for (const { t, j, path } of paths) {
    const [a, b] = [from[j], to[t]];
    const middle = depth / 2;
    path.setAttribute(
      "d",
      upright
        ? `M0 ${a}C${middle} ${a} ${middle} ${b} ${depth} ${b}`
        : `M${a} 0C${a} ${middle} ${b} ${middle} ${b} ${depth}`,
    );
  }
}

/** Light one target word (t) or one source word (j), or none. */
function lighter(stage, paths, weights, sources, targets) {
  return (t, j) => {
    const some = (t !== null && t >= 0) || j !== null;
    stage.classList.toggle("rv-busy", some);
    for (const path of paths) path.path.classList.toggle("rv-on", path.t === t || path.j === j);
    sources.forEach((button, place) => {
      mark(button, place === j, t !== null && t >= 0 ? weights[t][place] : 0);
    });
    targets.forEach((button, time) => mark(button, time === t, j !== null ? weights[time][j] : 0));
  };
}

function mark(button, chosen, weight) {
  button.classList.toggle("rv-chosen", chosen);
  button.style.setProperty("--w", weight.toFixed(3));
  button.lastElementChild.textContent = weight >= FAINTEST ? number(weight) : "";
}

function listen(sources, targets, light, below, opts) {
  const rest = () => light(opts.latest ? targets.length - 1 : null, null);
  [sources, targets].forEach((buttons, side) => {
    roving(buttons, alongLine(buttons.length));
    buttons.forEach((button, place) => {
      const on = () => (side ? light(place, null) : light(null, place));
      button.addEventListener("pointerenter", on);
      button.addEventListener("focus", on);
      button.addEventListener("pointerleave", rest);
      button.addEventListener("blur", rest);
      if (side && opts.onword && !below[place].end) {
        button.addEventListener("click", () => opts.onword(below[place], button));
      }
    });
  });
}
