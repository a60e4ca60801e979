// One model's answer: it comes word by word, can be changed at any word, and is looked into.

import { alongLine, h, number, roving, word } from "../look/dom.js";
import { direction } from "../look/trace.js";
import { show } from "../look/view.js";
import { run } from "./api.js";
import { openChoices } from "./choices.js";
import { Pace } from "./pace.js";
import { fixedBy, percent, pieces, sureness } from "./words.js";

/** Below this, a word is marked as one that the model is less sure of. */
const SURE = 0.5;
/** Milliseconds for which each step of an answer is to be seen at least. */
const MOMENT = { text: 45, picture: 260 };

export class Panel {
  /**
   * @param {any} model what the server says of it
   * @param {{changed: () => void, view: () => string, onview: (name: string) => void,
   *   failed: (fault: Error) => void, waiting: (seconds: number) => void,
   *   told: (text: string) => void}} page
   */
  constructor(model, page) {
    this.model = model;
    this.page = page;
    /** @type {(string | string[] | null)[]} what was fixed, step by step */
    this.history = [null];
    this.answer = h("div", { class: "answer", tabindex: "-1" });
    this.facts = h("p", { class: "facts" });
    this.others = h("div", { class: "others" });
    this.view = h("div", { class: "view" });
    this.element = h(
      "section",
      { class: "panel", "aria-label": `Answer of ${model.name}`, "aria-busy": "false" },
      h("h2", null, model.name), this.answer, this.facts, this.others, this.view,
    );
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.pace = new Pace(calm ? 0 : MOMENT[model.input]);
  }

  get prefix() {
    return this.history.at(-1);
  }

  set prefix(prefix) {
    this.history = prefix ? [null, prefix] : [null];
  }

  clear() {
    this.stop();
    this.shown = null;
    for (const part of [this.answer, this.facts, this.others, this.view]) part.replaceChildren();
  }

  stop() {
    this.asking?.abort();
    this.pace.stop();
    this.element.setAttribute("aria-busy", "false");
  }

  /** Ask the model anew; a former question is given up. */
  async ask(input, settings) {
    this.stop();
    this.asked = [input, settings];
    const asking = (this.asking = new AbortController());
    const { text, image } = input;
    const ask = { model: this.model.name, text, image: image?.blob, ...settings };
    if (this.prefix) ask.prefix = this.prefix;
    this.element.setAttribute("aria-busy", "true");
    try {
      const found = await run(ask, {
        signal: asking.signal,
        partial: (begun) => this.pace.show(() => this.begun(begun, input)),
        waiting: this.page.waiting,
      });
      await this.pace.over();
      if (!asking.signal.aborted) this.finished(found, input);
    } catch (fault) {
      if (fault.name === "AbortError") return;
      this.clear();
      this.page.failed(fault);
    } finally {
      if (this.asking === asking) this.element.setAttribute("aria-busy", "false");
    }
  }

  begun({ text, tokens, settled, attention, source }, input) {
    if (this.model.output === "continuation") return this.continued(input.text, text);
    const found = pieces(text, tokens);
    const fixed = fixedBy(this.prefix, found);
    // What is in buttons does not count for dir="auto".
    this.answer.dir = direction([text]);
    this.answer.replaceChildren(
      ...found.flatMap((piece) => [
        piece.gap,
        h("span", { class: mood(piece, fixed, settled) }, word(piece.label)),
      ]),
    );
    if (!attention?.length || !source) return;
    const target = { tokens: tokens.slice(0, attention.length) };
    const trace = { kind: this.model.input, text, source, target, alignment: attention };
    this.look(trace, input, { latest: true, fixed });
  }

  /** Show a trace in the tabs, which stay while answers come and go. */
  look(trace, input, more) {
    const opts = { ...more, view: this.page.view(), image: input.image?.url };
    if (this.shown) return this.shown.update(trace, opts);
    this.shown = show(this.view, trace, {
      ...opts,
      label: `Views of ${this.model.name}`,
      onview: this.page.onview,
      onword: (group, button) => {
        const piece = this.found.find(({ first, behind }) => first <= group.first && group.first < behind);
        if (piece) this.open(piece, button);
      },
    });
    return undefined;
  }

  finished({ answers, unknown, seconds, trace }, input) {
    const [best] = answers;
    this.nbest(answers);
    this.note(best, unknown, seconds);
    this.page.told(`${this.model.name}: ${best.text}`);
    if (this.model.output === "continuation") return this.continued(input.text, best.text);
    this.words(best, trace);
    if (trace) this.look(trace, input, { latest: false, fixed: this.fixed });
  }

  /** The answer as words that can be changed. */
  words(best, trace) {
    this.trace = trace;
    this.text = trace?.text ?? best.text;
    this.tokens = trace?.target.tokens ?? best.tokens;
    this.found = pieces(this.text, this.tokens, trace?.target.words);
    this.fixed = fixedBy(this.prefix, this.found);
    const buttons = this.found.map((piece) => this.wordButton(piece));
    this.answer.dir = direction([this.text]);
    this.answer.replaceChildren(...this.found.flatMap((piece, i) => [piece.gap, buttons[i]]));
    if (!buttons.length) this.answer.append(h("span", { class: "nothing" }, "The model says nothing."));
    roving(buttons, alongLine(buttons.length));
    // Who changed a word by the keyboard goes on from there.
    if (document.activeElement === this.answer) {
      buttons[this.found.findLastIndex(({ first }) => first < this.fixed)]?.focus();
    }
  }

  wordButton(piece) {
    const share = this.trace ? sureness(piece, this.trace.log_probs) : 1;
    const given = piece.first < this.fixed;
    const button = h(
      "button",
      {
        type: "button",
        class: given ? "fixed" : share < SURE ? "unsure" : null,
        "aria-haspopup": "dialog",
        "aria-label": `${piece.label}, ${given ? "fixed" : percent(share)}`,
        title: given ? "fixed by you" : percent(share),
        onclick: () => this.open(piece, button),
      },
      word(piece.label),
    );
    const light = (token) => () => this.shown?.light(token);
    for (const event of ["pointerenter", "focus"]) button.addEventListener(event, light(piece.first));
    for (const event of ["pointerleave", "blur"]) button.addEventListener(event, light(null));
    return button;
  }

  open(piece, button) {
    const { tokens, text } = this;
    const choices = this.trace?.choices?.[piece.first] ?? [];
    openChoices(button, { piece, tokens, choices }, {
      token: (token) => this.fix([...tokens.slice(0, piece.first), token]),
      typed: (typed) => this.fix(text.slice(0, piece.start) + typed),
      keep: () => this.fix(tokens.slice(0, piece.behind)),
    });
  }

  /** Let the model go on from a beginning. */
  fix(prefix) {
    this.history.push(prefix);
    this.again();
  }

  again() {
    this.page.changed();
    this.answer.focus({ preventScroll: true });
    this.ask(...this.asked);
  }

  note(best, unknown, seconds) {
    const answers = this.model.output === "answer";
    const parts = answers ? [`score ${number(best.score)}`] : [];
    parts.push(`${Math.round(1000 * seconds)} ms`);
    if (!best.complete) parts.push("cut off at the length limit");
    if (unknown.length) parts.push(`no symbol for ${unknown.join(" ")}`);
    const undo = (text, act) => h("button", { type: "button", onclick: () => (act(), this.again()) }, text);
    this.facts.replaceChildren(h("span", null, parts.join(" · ")));
    if (this.prefix) {
      this.facts.append(
        h("span", { class: "given" }, "underlined: fixed by you"),
        undo("Undo", () => this.history.pop()),
      );
      if (this.history.length > 2) this.facts.append(undo("Start over", () => (this.prefix = null)));
    } else if (answers) {
      this.facts.append(h("span", null, "Click a word to change it; dotted ones are less sure."));
    }
  }

  nbest(answers) {
    this.others.replaceChildren();
    if (answers.length < 2) return;
    const item = ({ text, score }) =>
      h("li", null, h("span", { dir: "auto" }, text), h("small", null, number(score)));
    this.others.append(h("h3", null, "Also considered"), h("ol", { start: "2" }, answers.slice(1).map(item)));
  }

  continued(prompt, text) {
    this.answer.classList.add("continues");
    this.answer.replaceChildren(h("span", { class: "prompt" }, prompt), text);
  }
}

function mood(piece, fixed, settled) {
  if (piece.first < fixed) return "fixed";
  return piece.behind <= settled ? "settled" : "open";
}

