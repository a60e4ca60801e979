// What each word listened to: time runs to the right, words go down.

import { alongLine, h, number, root, roving, word } from "./dom.js";
import { scale } from "./matrix.js";
import { ceiling, paint, ramp, themed } from "./theme.js";
import { groups, mergedAtFirst, rowsOf } from "./trace.js";

/**
 * A strip of weights for each word over a time axis.
 * @param {HTMLElement} el
 * @param {import("./trace.js").Trace} trace
 */
export function timeline(el, trace) {
  const view = root(el, "timeline");
  const words = groups(trace.target, mergedAtFirst(trace.target));
  const rows = rowsOf(trace.alignment, words);
  const top = ceiling(rows);
  const { seconds, marks = [] } = trace.source;
  const said = h("output", { class: "rv-readout" });
  const strips = words.map((group, t) =>
    h(
      "div",
      {
        class: group.end ? "rv-track rv-end" : "rv-track",
        role: "img",
        "aria-label": `${group.label}: ${described(rows[t], seconds)}`,
      },
      h("span", { class: "rv-name" }, word(group.label)), h("canvas", null),
    ),
  );
  view.append(
    h("div", { class: "rv-tools" }, scale(top), said),
    h("div", { class: "rv-tracks" }, strips, axis(seconds, marks)),
  );
  roving(strips, alongLine(strips.length));
  strips.forEach((strip, t) => {
    const canvas = strip.lastElementChild;
    const told = `: ${described(rows[t], seconds)}`;
    strip.addEventListener("focus", () => said.replaceChildren(word(words[t].label), told));
    canvas.addEventListener("pointermove", (event) => {
      const { left, width } = canvas.getBoundingClientRect();
      const place = Math.min(Math.max((event.clientX - left) / width, 0), 0.9999);
      const weight = rows[t][Math.floor(place * rows[t].length)];
      said.replaceChildren(word(words[t].label), ` at ${number(place * seconds)} s: ${number(weight, 3)}`);
    });
    canvas.addEventListener("pointerleave", () => said.replaceChildren());
  });
  themed(view, () => {
    const colours = ramp(view);
    strips.forEach((strip, t) => paint(strip.lastElementChild, [rows[t]], top, colours));
  });
}

function described(row, seconds) {
  const peak = row.indexOf(Math.max(...row));
  const mean = row.reduce((sum, weight, j) => sum + weight * (j + 0.5), 0);
  const time = (place) => number((place / row.length) * seconds);
  return `most at ${time(peak + 0.5)} s (${number(row[peak])}), on average at ${time(mean)} s`;
}

const STEPS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600, 3600];

/** Round numbers of seconds, about eight of them; marks are spread evenly. */
function axis(seconds, marks) {
  const step = STEPS.find((each) => seconds / each <= 8) ?? seconds;
  const ticks = [];
  for (let i = 0; i * step <= seconds + 1e-9; i++) {
    const place = `${(100 * i * step) / seconds}%`;
    ticks.push(h("span", { style: { left: place } }, String(Number((i * step).toFixed(2)))));
  }
  const labels = marks.map((mark, i) =>
    h("span", { class: "rv-mark", style: { left: `${(100 * (i + 0.5)) / marks.length}%` } }, word(mark)),
  );
  return h(
    "div",
    { class: "rv-axis", "aria-hidden": "true" },
    h("div", null, ticks, labels), h("small", null, "seconds"),
  );
}
