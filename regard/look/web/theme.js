// Colours of weights, the same as in the printed figures (regard/look/style.py).

/** Where the colours end: small weights over many places would be invisible on a scale to 1. */
export function ceiling(rows) {
  let most = 0;
  for (const row of rows) for (const weight of row) if (weight > most) most = weight;
  return [0.05, 0.1, 0.2, 0.5].find((top) => most <= top) ?? 1;
}

/** 256 colours (r, g, b) from the theme that holds where the element is. */
export function ramp(el) {
  const [low, middle, high] = ["--rv-ramp-0", "--rv-ramp-1", "--rv-ramp-2"].map((name) =>
    toLab(colour(el, name)),
  );
  const place = (middle[0] - low[0]) / (high[0] - low[0]);
  return Array.from({ length: 256 }, (_, step) => {
    const x = step / 255;
    const [from, to, share] =
      x < place ? [low, middle, x / place] : [middle, high, (x - place) / (1 - place)];
    return fromLab(from.map((channel, i) => channel + share * (to[i] - channel)));
  });
}

/** Call `draw` now and whenever light turns to dark, for as long as the element is in a page. */
export function themed(el, draw) {
  const media = matchMedia("(prefers-color-scheme: dark)");
  const watcher = new MutationObserver(again);
  function again() {
    if (el.isConnected) return draw();
    media.removeEventListener("change", again);
    watcher.disconnect();
  }
  media.addEventListener("change", again);
  watcher.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  draw();
}

/** Weights as a picture, one pixel each. */
export function paint(canvas, rows, top, colours) {
  canvas.width = rows[0]?.length ?? 1;
  canvas.height = Math.max(rows.length, 1);
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  rows.flat().forEach((weight, i) => {
    const step = Math.round(255 * Math.min(Math.max(weight / top, 0), 1));
    image.data.set([...colours[step], 255], 4 * i);
  });
  context.putImageData(image, 0, 0);
}

function colour(el, name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  el.append(probe);
  const found = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
  probe.remove();
  return found.map((channel) => channel / 255);
}

// Ottosson, "A perceptual color space for image processing" (OKLab), 2020.
const TO_LMS = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
];
const TO_LAB = [
  [0.2104542553, 0.793617785, -0.0040720468],
  [1.9779984951, -2.428592205, 0.4505937099],
  [0.0259040371, 0.7827717662, -0.808675766],
];
const FROM_LAB = [
  [1, 0.3963377774, 0.2158037573],
  [1, -0.1055613458, -0.0638541728],
  [1, -0.0894841775, -1.291485548],
];
const FROM_LMS = [
  [4.0767416621, -3.3077115913, 0.2309699292],
  [-1.2684380046, 2.6097574011, -0.3413193965],
  [-0.0041960863, -0.7034186147, 1.707614701],
];

function times(matrix, vector) {
  return matrix.map((row) => row.reduce((sum, x, i) => sum + x * vector[i], 0));
}

function toLab(rgb) {
  const linear = rgb.map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
  return times(TO_LAB, times(TO_LMS, linear).map(Math.cbrt));
}

function fromLab(lab) {
  const linear = times(FROM_LMS, times(FROM_LAB, lab).map((x) => x ** 3));
  return linear.map((x) => {
    const curved = x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
    return Math.round(255 * Math.min(Math.max(curved, 0), 1));
  });
}
