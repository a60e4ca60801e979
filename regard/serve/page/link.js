// What is shown, as the part of the address behind "#".

const SETTINGS = ["beam", "nbest", "temperature", "seed"];

/**
 * @typedef {Object} Shown
 * @property {string} [model]
 * @property {string} [other] the model to compare with
 * @property {string} [text]
 * @property {(string | string[] | null)[]} prefixes one for each model
 * @property {string} [view]
 * @property {boolean} [photo] a photo was shown, which no address can hold
 * @property {Record<string, number>} settings
 */

/** @param {Shown} shown */
export function written(shown) {
  const fields = new URLSearchParams();
  const add = (name, value) => (value ?? "") !== "" && fields.set(name, value);
  add("model", shown.model);
  add("with", shown.other);
  add("text", shown.text);
  shown.prefixes.forEach((prefix, i) => prefix && add(i ? "prefix2" : "prefix", JSON.stringify(prefix)));
  add("view", shown.view);
  if (shown.photo) add("photo", "1");
  for (const name of SETTINGS) add(name, shown.settings[name]);
  return fields.toString();
}

/** @returns {Shown} whatever of it makes sense; addresses come from anywhere */
export function read(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const settings = {};
  for (const name of SETTINGS) {
    const value = Number(fields.get(name) ?? NaN);
    if (Number.isFinite(value)) settings[name] = value;
  }
  return {
    model: fields.get("model") ?? undefined,
    other: fields.get("with") ?? undefined,
    text: fields.get("text") ?? undefined,
    prefixes: [prefix(fields.get("prefix")), prefix(fields.get("prefix2"))],
    view: fields.get("view") ?? undefined,
    photo: fields.has("photo"),
    settings,
  };
}

function prefix(written) {
  if (!written) return null;
  try {
    const value = JSON.parse(written);
    if (typeof value === "string" && value) return value;
    const tokens = Array.isArray(value) && value.every((token) => typeof token === "string");
    return tokens && value.length ? value : null;
  } catch {
    return null;
  }
}
