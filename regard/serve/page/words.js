// An answer's tokens as words of its text.

import { groups, wordSpans } from "../look/trace.js";

/**
 * @typedef {{label: string, gap: string, start: number, first: number, behind: number}} Piece
 *   a word, what stands before it in the text, where it begins there, and its tokens
 */

/** Words with what stands between them, as the text has it. */
export function pieces(text, tokens, words) {
  const side = { tokens, words: words ?? wordSpans(tokens) };
  let at = 0;
  /** @type {Piece[]} */
  const found = [];
  for (const { label, first, behind, end } of groups(side, true)) {
    if (end) continue;
    const next = text.indexOf(label, at);
    // A text may spell its tokens otherwise; then a blank will do.
    const near = next >= 0 && !text.slice(at, next).trim();
    const start = near ? next : at;
    const gap = near ? text.slice(at, next) : found.length ? " " : "";
    found.push({ label, gap, start, first, behind });
    if (near) at = next + label.length;
  }
  return found;
}

/** How many of the first tokens a prefix of tokens or of text has fixed. */
export function fixedBy(prefix, found) {
  if (!prefix) return 0;
  if (Array.isArray(prefix)) return prefix.length;
  return found.filter(({ start, label }) => start + label.length <= prefix.length).at(-1)?.behind ?? 0;
}

/** The probability of a word: that of all its tokens together. */
export function sureness({ first, behind }, logProbs) {
  return Math.exp(logProbs.slice(first, behind).reduce((sum, one) => sum + one, 0));
}

/** A share as it is read: "91 %", "2.4 %", "<0.1 %". */
export function percent(share) {
  const value = 100 * share;
  if (value >= 9.95) return `${Math.round(value)} %`;
  return value >= 0.05 ? `${value.toFixed(1)} %` : "<0.1 %";
}
