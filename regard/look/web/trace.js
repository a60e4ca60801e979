// What a trace says, made ready for drawing.

/**
 * @typedef {Object} Side What stands on an axis.
 * @property {string[]} tokens
 * @property {[number, number][]} [words] spans of tokens that are one word each
 *
 * @typedef {Object} Trace As `Trace.as_dict()` in Python gives it.
 * @property {"text"|"picture"|"time"} kind
 * @property {string} text
 * @property {any} source a Side; or grid, region and size of a picture; or seconds, steps, marks
 * @property {Side} target
 * @property {number[][]|null} alignment time x source
 * @property {number[][][][]} [weights] layer x head x time x source
 * @property {number[]} [log_probs]
 * @property {[string, number][][]} [choices]
 * @property {{width: number, best: number[], forks: any[][]}|null} [search]
 *
 * @typedef {{label: string, first: number, behind: number, end: boolean}} Group
 */

const END = "</s>";
const SIGNS = { " ": "␣", "\n": "⏎", "\t": "⇥" };

/** Tokens as they are read: the sign for a blank becomes one, what cannot be seen becomes a sign. */
export function label(tokens) {
  const text = tokens.join("").replaceAll("▁", " ").trim();
  if (!text) return tokens.join("") ? "␣" : "∅";
  return text.replace(/[\s\p{Cc}\p{Cs}]/gu, (sign) => SIGNS[sign] ?? "\uFFFD");
}

/** What one label stands for along an axis: a word each where `merged`, else a token each. */
export function groups(side, merged) {
  const { tokens } = side;
  const spans = merged ? (side.words ?? wordSpans(tokens)) : [];
  const starts = new Map(spans.map((span) => [span[0], span[1]]));
  /** @type {Group[]} */
  const found = [];
  for (let first = 0; first < tokens.length; ) {
    const behind = Math.max(starts.get(first) ?? 0, first + 1);
    const end = first === tokens.length - 1 && tokens[first] === END;
    const text = end ? "end" : label(tokens.slice(first, behind));
    found.push({ label: text, first, behind, end });
    first = behind;
  }
  return found;
}

/** Words of tokens that say where a word begins; else every token is one. */
export function wordSpans(tokens) {
  const said = tokens.at(-1) === END ? tokens.slice(0, -1) : tokens;
  const marked = said.some((token) => token.startsWith("▁"));
  const spans = [];
  said.forEach((token, place) => {
    if (marked && place && !token.startsWith("▁")) spans.at(-1)[1] = place + 1;
    else spans.push([place, place + 1]);
  });
  return spans;
}

/** Weights between groups: the sum over the source's tokens, the mean over the target's. */
export function between(rows, target, source) {
  return target.map(({ first, behind }) =>
    source.map((group) => {
      let sum = 0;
      for (let t = first; t < behind; t++) {
        for (let j = group.first; j < group.behind; j++) sum += rows[t][j];
      }
      return sum / (behind - first);
    }),
  );
}

/** Rows of weights of groups of the target, with the source as it is. */
export function rowsOf(rows, target) {
  return target.map(({ first, behind }) => {
    const some = rows.slice(first, behind);
    return some[0].map((_, j) => some.reduce((sum, row) => sum + row[j], 0) / some.length);
  });
}

/** Is there a word of several tokens, and is it not the only word there is? */
export function mergeable(...sides) {
  return sides.some((side) => {
    const words = side.words ?? wordSpans(side.tokens);
    return words.length > 1 && words.some(([first, behind]) => behind - first > 1);
  });
}

/** Subwords are shown as words at first; letters, which say where a model looks, are not. */
export function mergedAtFirst(...sides) {
  const letters = sides.some((side) => {
    const said = side.tokens.filter((token) => token !== END);
    return said.length > 1 && said.every((token) => [...token].length === 1);
  });
  return !letters && mergeable(...sides);
}

/** Does the text run from right to left? The first letter that has a direction decides. */
export function direction(labels) {
  const first = labels.join(" ").match(/\p{L}/u)?.[0] ?? "";
  return /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(
    first,
  )
    ? "rtl"
    : "ltr";
}

/** The strongest sources of one row, for reading out: "standing 0.62, is 0.20". */
export function strongest(row, names, most = 3) {
  return row
    .map((weight, place) => [weight, place])
    .sort((a, b) => b[0] - a[0])
    .filter(([weight], rank) => rank === 0 || (rank < most && weight >= 0.1))
    .map(([weight, place]) => `${names[place]} ${weight.toFixed(2)}`)
    .join(", ");
}

/** Mean entropy of the rows: the lower, the more sharply a head looks. */
export function entropy(rows) {
  const of = (row) => row.reduce((sum, x) => (x > 0 ? sum - x * Math.log(x) : sum), 0);
  return rows.reduce((sum, row) => sum + of(row), 0) / rows.length;
}

/** How far a head follows the order: the correlation of time with the mean place looked at. */
export function diagonality(rows) {
  const places = rows.map((row) => row.reduce((sum, weight, j) => sum + weight * j, 0));
  const mean = places.reduce((a, b) => a + b, 0) / places.length;
  const middle = (rows.length - 1) / 2;
  let both = 0, ofTime = 0, ofPlace = 0;
  places.forEach((place, t) => {
    both += (t - middle) * (place - mean);
    ofTime += (t - middle) ** 2;
    ofPlace += (place - mean) ** 2;
  });
  return ofTime * ofPlace > 1e-12 ? both / Math.sqrt(ofTime * ofPlace) : 0;
}
