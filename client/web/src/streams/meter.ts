/** Counts the received data per second. */

/** The seconds that are kept: the width of the chart. */
export const HISTORY_SECONDS = 60;
/** Rates are averages over the last whole seconds: enough to be steady with one key frame per second. */
const RATE_SECONDS = 3;

export interface Rates {
  /** Per second. */
  readonly bits: number;
  readonly messages: number;
  /** Bits in each of the last whole seconds, oldest first. */
  readonly history: readonly number[];
}

export class Meter {
  bytes = 0;
  messages = 0;
  readonly #bytes = new Float64Array(HISTORY_SECONDS + 1);
  readonly #messages = new Float64Array(HISTORY_SECONDS + 1);
  readonly #began: number;
  #second: number;

  constructor(nowMs: number) {
    this.#second = Math.floor(nowMs / 1000);
    this.#began = this.#second;
  }

  count(bytes: number, nowMs: number): void {
    this.#advance(nowMs);
    const slot = this.#second % this.#bytes.length;
    this.#bytes[slot] = (this.#bytes[slot] ?? 0) + bytes;
    this.#messages[slot] = (this.#messages[slot] ?? 0) + 1;
    this.bytes += bytes;
    this.messages += 1;
  }

  read(nowMs: number): Rates {
    this.#advance(nowMs);
    const bits = this.#past(this.#bytes).map((bytes) => bytes * 8);
    // In its first seconds a stream has fewer of them.
    const seconds = Math.max(1, Math.min(RATE_SECONDS, this.#second - this.#began));
    const rate = (values: readonly number[]): number =>
      values.slice(-seconds).reduce((sum, value) => sum + value, 0) / seconds;
    return { bits: rate(bits), messages: rate(this.#past(this.#messages)), history: bits };
  }

  #past(slots: Float64Array): number[] {
    return Array.from(
      { length: HISTORY_SECONDS },
      (_, index) => slots[(this.#second + 1 + index) % slots.length] ?? 0,
    );
  }

  #advance(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    const passed = Math.min(second - this.#second, this.#bytes.length);
    for (let step = 1; step <= passed; step++) {
      const slot = (second - passed + step) % this.#bytes.length;
      this.#bytes[slot] = 0;
      this.#messages[slot] = 0;
    }
    if (passed > 0) this.#second = second;
  }
}
