/** The single timer of an object that says when it must be called next. */
export class Alarm {
  readonly #now: () => number;
  readonly #ring: () => void;
  #timer: NodeJS.Timeout | undefined;
  #at = Infinity;

  constructor(now: () => number, ring: () => void) {
    this.#now = now;
    this.#ring = ring;
  }

  /** Calls `ring` at `next` (ms) and no earlier; `undefined` cancels it. */
  set(next = Infinity): void {
    if (next === this.#at) return;
    clearTimeout(this.#timer);
    this.#at = next;
    if (next === Infinity) return;
    const ring = (): void => {
      this.#at = Infinity;
      this.#ring();
    };
    this.#timer = setTimeout(ring, Math.max(0, Math.ceil(next - this.#now())));
  }

  cancel(): void {
    this.set();
  }
}
