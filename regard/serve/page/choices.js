// What else the model could say at a place: a small menu beside a word.

import { alongLine, h, roving, word } from "../look/dom.js";
import { label } from "../look/trace.js";
import { percent } from "./words.js";

/**
 * Open the menu.
 * @param {HTMLElement} button the word
 * @param {{piece: import("./words.js").Piece, tokens: string[], choices: [string, number][]}} at
 * @param {{token: (token: string) => void, typed: (text: string) => void, keep: () => void}} then
 */
export function openChoices(button, { piece, tokens, choices }, then) {
  const said = tokens[piece.first];
  const close = () => box.hidePopover();
  const does = (act) => () => (close(), act());
  const offered = choices.filter(([token]) => token !== "</s>");
  const rows = offered.map(([token, logProb]) => option(token, logProb, token === said));
  function option(token, logProb, current) {
    const share = Math.exp(logProb);
    return h(
      "button",
      {
        type: "button",
        "aria-current": current ? "true" : null,
        style: { "--share": share.toFixed(3) },
        onclick: does(() => then.token(token)),
      },
      word(label([token])), h("small", null, percent(share)),
    );
  }
  const input = h("input", { type: "text", dir: "auto", autocomplete: "off", spellcheck: "false" });
  function submitted(event) {
    event.preventDefault();
    const typed = input.value.trim();
    if (typed) does(() => then.typed(typed))();
  }
  const form = h(
    "form",
    { onsubmit: submitted },
    h("label", null, "Something else", input), h("button", { type: "submit" }, "Use"),
  );
  const box = h(
    "div",
    { popover: "auto", class: "choices", role: "dialog", "aria-label": `Instead of ${piece.label}` },
    h("p", null, "Here the model could say"),
    h("div", { class: "offered" }, rows),
    form,
    h("button", { type: "button", class: "keep", onclick: does(then.keep) }, "Keep all up to here"),
  );
  roving(rows, alongLine(rows.length));
  box.addEventListener("toggle", (event) => {
    if (event.newState !== "closed") return;
    const inside = box.contains(document.activeElement) || document.activeElement === document.body;
    box.remove();
    if (inside && button.isConnected) button.focus();
  });
  document.body.append(box);
  box.showPopover();
  place(box, button);
  (rows[0] ?? input).focus();
}

/** Below the word, above it or beside it, wherever there is room, and never beyond the screen. */
function place(box, button) {
  const word = button.getBoundingClientRect();
  const { width, height } = box.getBoundingClientRect();
  const wide = document.documentElement.clientWidth;
  const fits = [word.bottom + 6 + height < innerHeight, word.top - 6 - height > 0];
  const beside = !fits[0] && !fits[1];
  let left = word.left;
  if (beside) left = word.right + 8 + width < wide ? word.right + 8 : word.left - width - 8;
  const top = fits[0] ? word.bottom + 6 : fits[1] ? word.top - height - 6 : word.top - height / 2;
  const within = (place, most) => `${Math.max(8, Math.min(place, most - 8))}px`;
  box.style.left = within(left, wide - width);
  box.style.top = within(top, innerHeight - height);
}
