// The page: what is asked, of which models, and what is shown of the answers.

import { h } from "../look/dom.js";
import { keepToken, models } from "./api.js";
import { read, written } from "./link.js";
import { Panel } from "./panel.js";
import { listenForPhotos, readied } from "./photo.js";

const PAUSE = 350;
const at = (id) => document.getElementById(id);
const page = { served: [], panels: [], image: null, view: undefined, timer: 0, waits: false, own: "" };

const hooks = {
  changed: () => remember(),
  view: () => page.view,
  onview: (name) => ((page.view = name), remember()),
  failed: (fault) => failed(fault),
  waiting: (seconds) => {
    page.waits = true;
    say(`The server has much to do. Trying again in ${Math.ceil(seconds)} s.`);
  },
  told: (text) => {
    at("live").textContent = text;
    if (page.waits) say();
    page.waits = false;
  },
};

async function begin() {
  say();
  try {
    page.served = await models();
  } catch (fault) {
    return failed(fault, begin);
  }
  if (!page.served.length) return say("This server has no models.");
  restore();
}

/** Show what the address says, or the first model with its first example. */
function restore() {
  const shown = read(location.hash);
  const known = (name) => page.served.find((model) => model.name === name);
  const first = known(shown.model) ?? page.served[0];
  const second = known(shown.other);
  page.view = shown.view;
  fillModels(first, second);
  settle(shown.settings);
  usePanels(first, second);
  page.panels.forEach((panel, i) => (panel.prefix = shown.prefixes[i]));
  at("text").value = shown.text ?? (first.input === "text" ? (first.examples[0] ?? "") : "");
  grow();
  ask();
  const missing = shown.model && !known(shown.model);
  if (missing) say(`There is no model ${shown.model} here; this is ${first.name}.`);
  else if (shown.photo && !page.image) say("A link holds no photo. Choose it again to see its caption.");
}

function fillModels(first, second) {
  const options = (list) => list.map((model) => h("option", { value: model.name }, model.name));
  at("model").replaceChildren(...options(page.served));
  at("model").value = first.name;
  const alike = (model) => model.input === first.input && model.output === first.output;
  const like = page.served.filter((model) => model !== first && alike(model));
  at("other").replaceChildren(h("option", { value: "" }, "nothing"), ...options(like));
  at("other").value = like.includes(second) ? second.name : "";
  at("beside").hidden = !like.length;
  document.querySelector(".models").hidden = page.served.length < 2;
}

function chosen() {
  const named = (id) => page.served.find((model) => model.name === at(id).value);
  return [named("model"), named("other")];
}

function usePanels(...wanted) {
  for (const panel of page.panels) panel.stop();
  page.panels = wanted.filter(Boolean).map((model) => new Panel(model, hooks));
  at("panels").replaceChildren(...page.panels.map((panel) => panel.element));
  at("panels").classList.toggle("two", page.panels.length > 1);
  const [first] = page.panels;
  const { about, input, output, limits, beam, scores, examples } = first.model;
  const measured = Object.entries(scores ?? {}).map(([name, value]) => `${name} ${Number(value.toFixed(1))}`);
  at("about").textContent = [about, measured.join(", ")].filter(Boolean).join(" · ");
  at("reading").hidden = input !== "text";
  at("seeing").hidden = input === "text";
  at("asked").textContent = output === "continuation" ? "How the text begins" : "Text";
  for (const label of document.querySelectorAll(".answering")) label.hidden = output === "continuation";
  [at("beam").max, at("nbest").max, at("beam").placeholder] = [limits.beam, limits.nbest, beam];
  at("nbest").placeholder = "1";
  const example = (text) =>
    h("button", { type: "button", onclick: () => write(text) }, h("bdi", null, text));
  at("examples").replaceChildren(...(input === "text" ? examples.map(example) : []));
}

function write(text) {
  at("text").value = text;
  grow();
  fresh();
}

/** Another question: what was fixed in the answer to the last one is over. */
function fresh() {
  for (const panel of page.panels) panel.prefix = null;
  ask();
}

function settings() {
  const asked = {};
  const whole = (id) => (at(id).value && at(id).checkValidity() ? Number(at(id).value) : undefined);
  if (page.panels[0].model.output === "answer") {
    asked.beam = whole("beam");
    asked.nbest = whole("nbest");
    // There are no more answers than the beam is wide.
    if (asked.nbest > asked.beam) asked.beam = asked.nbest;
  }
  if (at("sampling").checked) {
    asked.sample = { temperature: whole("temperature") ?? 1, seed: whole("seed") ?? 1 };
  }
  return asked;
}

function settle(saved) {
  for (const name of ["beam", "nbest"]) at(name).value = saved[name] ?? "";
  at("sampling").checked = "temperature" in saved;
  at("temperature").value = saved.temperature ?? 1;
  at("seed").value = saved.seed ?? 1;
  at("settings").open = Object.keys(saved).length > 0;
}

/** A text to write on from may end in a blank. */
function typed() {
  const { value } = at("text");
  return page.panels[0].model.output === "continuation" ? value : value.trim();
}

/** Ask all models that are shown. */
function ask() {
  clearTimeout(page.timer);
  remember();
  const sees = page.panels[0].model.input === "picture";
  const text = typed();
  const input = sees ? { image: page.image } : { text };
  if (sees ? !page.image : !text.trim()) {
    for (const panel of page.panels) panel.clear();
    return;
  }
  say();
  for (const panel of page.panels) panel.ask(input, settings());
}

function remember() {
  const [first, second] = page.panels.map((panel) => panel.model);
  const { sample, ...rest } = settings();
  const sees = first.input === "picture";
  page.own = written({
    model: page.served.length > 1 ? first.name : undefined,
    other: second?.name,
    text: sees ? undefined : typed(),
    prefixes: page.panels.map((panel) => panel.prefix),
    view: page.view,
    photo: sees && Boolean(page.image),
    settings: { ...rest, ...sample },
  });
  history.replaceState(null, "", `#${page.own}`);
}

function say(text, act) {
  const again = act && h("button", { type: "button", onclick: act }, "Try again");
  at("message").replaceChildren(...(text ? [h("p", null, text, " ", again ?? null)] : []));
}

function failed(fault, again = ask) {
  const passing = fault.code === "gone" || fault.code === "busy";
  if (fault.code !== "token") return say(fault.message, passing ? again : null);
  const door = at("door");
  if (door.open) return undefined;
  door.showModal();
  return door.addEventListener("close", () => {
    if (!at("token").value) return say("Without a token this server gives no answers.", again);
    keepToken(at("token").value);
    at("token").value = "";
    return page.served.length ? again() : begin();
  }, { once: true });
}

/** A photo is for a model that sees; if none of those is shown, the first one is. */
async function takePhoto(file) {
  say();
  if (page.panels[0].model.input !== "picture") {
    const sees = page.served.find((model) => model.input === "picture");
    fillModels(sees);
    usePanels(sees);
  }
  try {
    const taken = await readied(file, page.panels[0].model.limits);
    if (page.image) URL.revokeObjectURL(page.image.url);
    page.image = taken;
  } catch (fault) {
    return failed(fault);
  }
  at("preview").src = page.image.url;
  at("preview").hidden = false;
  fresh();
  if (page.image.smaller) say("The photo was too large for this server: a smaller copy was sent.");
  return undefined;
}

/** As tall as its text. */
function grow() {
  const box = at("text");
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight + 2}px`;
}

function listen() {
  at("ask").addEventListener("submit", (event) => (event.preventDefault(), ask()));
  at("text").addEventListener("input", () => {
    grow();
    clearTimeout(page.timer);
    page.timer = setTimeout(fresh, PAUSE);
  });
  at("text").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    ask();
  });
  at("model").addEventListener("change", () => {
    const [before] = page.panels;
    const [model, other] = chosen();
    fillModels(model, other);
    usePanels(...chosen());
    const kept = before.model.examples.includes(at("text").value) || !at("text").value;
    if (kept && model.input === "text") at("text").value = model.examples[0] ?? "";
    grow();
    fresh();
  });
  at("other").addEventListener("change", () => {
    const { prefix } = page.panels[0];
    usePanels(...chosen());
    page.panels[0].prefix = prefix;
    ask();
  });
  at("settings").addEventListener("change", ask);
  at("link").addEventListener("click", copyLink);
  at("theme").addEventListener("click", turn);
  addEventListener("hashchange", () => location.hash.replace(/^#/, "") !== page.own && restore());
  addEventListener("resize", grow);
  listenForPhotos({
    drop: at("drop"),
    file: at("file"),
    wanted: () => page.served.some((model) => model.input === "picture"),
    chosen: takePhoto,
  });
}

async function copyLink() {
  remember();
  const photo = page.image ? " A link holds no photo." : "";
  try {
    await navigator.clipboard.writeText(location.href);
    at("link").textContent = "Copied";
    hooks.told(`The link is copied.${photo}`);
    if (photo) say(photo.trim());
  } catch {
    say(`The link is in the address bar: your browser does not let the page copy it.${photo}`);
  }
  setTimeout(() => (at("link").textContent = "Copy link"), 2000);
}

function dark() {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function turn() {
  const theme = dark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  localStorage.setItem("regard-theme", theme);
  nameTheme();
}

/** The button names what it leads to. */
function nameTheme() {
  at("theme").textContent = dark() ? "Light" : "Dark";
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
nameTheme();
listen();
begin();
