/**
 * One clock for everything a person publishes. Cameras and microphones stamp what they capture, each from a beginning of its own; how that
 * lies to our clock is known by what comes soonest after it was captured. All in microseconds.
 */

/** So much later within a second may the measure creep: clocks of devices drift by less. */
const CREEP_PER_S = 200;
/** A jump in the stamps is a new beginning: the device slept or was changed. */
const JUMP = 500_000;

export class StampClock {
  #offset: number | null = null;
  #at = 0;

  seen(stamp: number, now: number): void {
    const found = now - stamp;
    const crept =
      this.#offset === null ? found : this.#offset + (CREEP_PER_S * Math.max(0, now - this.#at)) / 1_000_000;
    this.#offset = found - crept > JUMP ? found : Math.min(found, crept);
    this.#at = now;
  }

  /** When it was captured, on our clock. */
  at(stamp: number): number {
    return stamp + (this.#offset ?? 0);
  }
}
