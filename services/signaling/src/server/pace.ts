/**
 * How many arrivals a pod accepts in a second: the operator's ceiling while its event loop is on time, less while the loop is late, and never less
 * than a floor. A token bucket whose rate follows the headroom of the CPU. Times are ms. SPEC rule LIM-20.
 */
export class Pace {
  readonly #ceiling: number;
  readonly #floor: number;
  #rate: number;
  #tokens: number;
  #at: number;

  constructor({ ceiling, floor }: PaceRange, now: number) {
    this.#ceiling = ceiling;
    this.#floor = Math.min(floor, ceiling);
    this.#rate = ceiling;
    this.#at = now;
    this.#tokens = this.#burst;
  }

  get perSecond(): number {
    return this.#rate;
  }

  /** Called every `TICK_MS` with how late the event loop was. */
  measured(lateMs: number): void {
    this.#rate =
      lateMs > LATE_MS
        ? Math.max(this.#floor, this.#rate * LESS)
        : Math.min(this.#ceiling, this.#rate + this.#ceiling * MORE);
  }

  take(now: number): boolean {
    this.#fill(now);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** What was taken was not used. */
  giveBack(): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + 1);
  }

  /** How long until the next arrival is accepted, with `ahead` arrivals before it. */
  waitMs(ahead: number, now: number): number {
    this.#fill(now);
    return Math.max(0, Math.ceil(((ahead + 1 - this.#tokens) * 1000) / this.#rate));
  }

  get #burst(): number {
    return Math.max(1, (this.#rate * BURST_MS) / 1000);
  }

  #fill(now: number): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#at) * this.#rate) / 1000);
    this.#at = now;
  }
}

/** Arrivals per second. */
export interface PaceRange {
  readonly ceiling: number;
  readonly floor: number;
}

/** How often the lateness of the event loop is measured. */
export const TICK_MS = 20;
/** A message of a call waits as long as the loop is late. In a herd 99 of 100 should be delivered within 250 ms. */
export const LATE_MS = 30;
/** From the ceiling to half of it within four late ticks, and back within half a second of punctual ones. */
const LESS = 0.8;
const MORE = 0.02;
/** What is accepted at once after a pause. The rate holds while ticks are no later than this. */
const BURST_MS = 250;
