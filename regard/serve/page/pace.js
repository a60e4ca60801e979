// Steps that come faster than eyes can follow, shown one after the other.

/** Shows each step for a moment; the more of them wait, the shorter. */
export class Pace {
  #waiting = [];
  #timer = 0;
  #over = null;

  /** @param {number} pause milliseconds for a step; 0 shows every step at once */
  constructor(pause) {
    this.pause = pause;
  }

  show(draw) {
    if (!this.pause || document.hidden) return draw();
    this.#waiting.push(draw);
    if (!this.#timer) this.#next();
    return undefined;
  }

  /** When all that came has been shown. */
  over() {
    return new Promise((resolve) => {
      if (!this.#timer) resolve();
      else this.#over = resolve;
    });
  }

  stop() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#waiting = [];
  }

  #next() {
    const draw = this.#waiting.shift();
    if (!draw) {
      this.#timer = 0;
      this.#over?.();
      return;
    }
    draw();
    this.#timer = setTimeout(() => this.#next(), this.pause / (1 + this.#waiting.length / 20));
  }
}
