// A picture once per word, bright where the model looked.

import { alongLine, h, root, roving, word } from "./dom.js";
import { groups, mergedAtFirst, rowsOf } from "./trace.js";

/** How much is left of a picture where nobody looked. */
const DARKEST = 0.15;
/** How many points each field of the grid becomes in either direction. */
const FINER = 8;
const PAUSE = 900;
/** The picture that was drawn last: while a caption comes about, it is drawn again and again. */
let last = new Image();

/**
 * One large picture and a strip of all words; plays as an animation.
 * @param {HTMLElement} el
 * @param {import("./trace.js").Trace} trace
 * @param {string} imageUrl
 * @param {{latest?: boolean}} [opts] `latest`: show the last word, as it has just been said
 */
export function overlay(el, trace, imageUrl, opts = {}) {
  const view = root(el, "overlay");
  const words = groups(trace.target, mergedAtFirst(trace.target)).filter((group) => !group.end);
  const rows = trace.alignment ? rowsOf(trace.alignment, words) : [];
  const large = h("canvas", { role: "img" });
  const caption = h("figcaption", { dir: "auto" });
  const thumbs = words.map((group, t) => thumb(group, described(rows[t], trace.source.grid)));
  const film = { at: opts.latest ? words.length - 1 : -1, timer: 0 };
  const play = h("button", { type: "button", class: "rv-play", onclick: () => toggle() }, "Play");
  if (last.src !== imageUrl || !last.naturalWidth) last = new Image();
  const image = last;
  const pieces = words.map((group) => h("span", null, word(group.label), " "));
  caption.append(...pieces);

  function choose(t) {
    film.at = t;
    thumbs.forEach((button, place) => button.setAttribute("aria-pressed", String(place === t)));
    pieces.forEach((piece, place) => piece.classList.toggle("rv-lit", place === t));
    const where = t < 0 ? "the whole picture" : `${words[t].label}: ${described(rows[t], trace.source.grid)}`;
    large.setAttribute("aria-label", where);
    if (image.naturalWidth) shade(large, image, rows[t], trace.source);
  }
  function stop() {
    clearInterval(film.timer);
    film.timer = 0;
    play.textContent = "Play";
  }
  function toggle() {
    if (film.timer) return stop();
    play.textContent = "Stop";
    const next = () => {
      if (!view.isConnected) return stop();
      choose(film.at + 1 < words.length ? film.at + 1 : -1);
      if (film.at < 0) stop();
    };
    choose(0);
    film.timer = setInterval(next, PAUSE);
  }
  function begin() {
    size(large, image, 960);
    thumbs.forEach((button, t) => {
      const canvas = button.querySelector("canvas");
      size(canvas, image, 220);
      shade(canvas, image, rows[t], trace.source);
    });
    choose(film.at);
  }
  thumbs.forEach((button, t) => {
    button.addEventListener("click", () => (stop(), choose(film.at === t ? -1 : t)));
    button.addEventListener("focus", () => button.matches(":focus-visible") && (stop(), choose(t)));
  });
  roving(thumbs, alongLine(thumbs.length));
  view.append(
    h("figure", null, large, caption),
    h(
      "div",
      { class: "rv-side" },
      words.length > 1 && !opts.latest && play,
      h("div", { class: "rv-strip", role: "group", "aria-label": "words" }, thumbs),
    ),
  );
  if (image.src) return begin();
  choose(film.at);
  image.addEventListener("load", begin);
  image.src = imageUrl;
  return undefined;
}

function thumb(group, description) {
  const label = `${group.label}, ${description}`;
  return h(
    "button",
    { type: "button", class: "rv-thumb", "aria-pressed": "false", "aria-label": label },
    h("canvas", null), word(group.label),
  );
}

/** Where a word's weights lie, in words. */
function described(row, grid) {
  if (!row || !grid) return "this model has no attention";
  const most = row.indexOf(Math.max(...row));
  const [line, column] = [Math.floor(most / grid[1]), most % grid[1]];
  const third = (place, count, names) => names[Math.min(2, Math.floor((3 * (place + 0.5)) / count))];
  const down = third(line, grid[0], ["top", "middle", "bottom"]);
  const across = third(column, grid[1], ["left", "centre", "right"]);
  return `looked mostly at the ${down} ${across}, ${row[most].toFixed(2)} of its weight in one field`;
}

function size(canvas, image, most) {
  const shrink = Math.min(1, most / Math.max(image.naturalWidth, image.naturalHeight));
  canvas.width = Math.max(1, Math.round(image.naturalWidth * shrink));
  canvas.height = Math.max(1, Math.round(image.naturalHeight * shrink));
}

/** The picture, darkened where the weights are low; weights are spread over the whole range. */
function shade(canvas, image, row, source) {
  const context = canvas.getContext("2d");
  const { width, height } = canvas;
  context.clearRect(0, 0, width, height);
  context.drawImage(image, 0, 0, width, height);
  if (!row) return;
  const [wide, tall] = source.size ?? [image.naturalWidth, image.naturalHeight];
  const [left, top, right, bottom] = source.region ?? [0, 0, wide, tall];
  // Whole pixels, or a seam would show around the region.
  const [x, u] = [left, right].map((edge) => Math.round((edge / wide) * width));
  const [y, v] = [top, bottom].map((edge) => Math.round((edge / tall) * height));
  context.save();
  context.beginPath();
  context.rect(0, 0, width, height);
  context.rect(x, y, u - x, v - y);
  context.clip("evenodd");
  context.fillStyle = `rgba(0, 0, 0, ${1 - DARKEST})`;
  context.fillRect(0, 0, width, height);
  context.restore();
  context.imageSmoothingQuality = "high";
  context.drawImage(shadow(row, source.grid), x, y, u - x, v - y);
}

/** Black, the thicker the lower the weight. */
function shadow(row, [rows, columns]) {
  const canvas = h("canvas", { width: columns * FINER, height: rows * FINER });
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  const smooth = finer(row, rows, columns);
  const [low, high] = [Math.min(...smooth), Math.max(...smooth)];
  smooth.forEach((weight, i) => {
    const light = high - low > 1e-9 ? (weight - low) / (high - low) : 1;
    image.data[4 * i + 3] = 255 * (1 - DARKEST) * (1 - light);
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

/** The grid enlarged by cubic convolution (Keys, 1981), one direction after the other. */
function finer(row, rows, columns) {
  const across = [];
  for (let r = 0; r < rows; r++) across.push(...stretched(row.slice(r * columns, (r + 1) * columns)));
  const wide = columns * FINER;
  const made = new Array(wide * rows * FINER);
  for (let c = 0; c < wide; c++) {
    const line = stretched(Array.from({ length: rows }, (_, r) => across[r * wide + c]));
    line.forEach((weight, r) => (made[r * wide + c] = weight));
  }
  return made;
}

function stretched(line) {
  const at = (place) => line[Math.min(Math.max(place, 0), line.length - 1)];
  return Array.from({ length: line.length * FINER }, (_, i) => {
    const place = (i + 0.5) / FINER - 0.5;
    const first = Math.floor(place);
    const x = place - first;
    const [a, b, c, d] = [-1, 0, 1, 2].map((step) => at(first + step));
    return b + 0.5 * x * (c - a + x * (2 * a - 5 * b + 4 * c - d + x * (3 * (b - c) + d - a)));
  });
}
