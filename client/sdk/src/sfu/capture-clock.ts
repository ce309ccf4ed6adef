/**
 * One clock for all media of a publisher. Cameras and microphones have timestamps of their own origins; the smallest delay after capture gives the
 * offset to our clock. All times in microseconds.
 */

/** The offset may grow by this much per second: clocks of devices drift by less. */
const CREEP_PER_S = 200;
/** A jump of the timestamps is a new origin: the device slept or was changed. */
const JUMP = 500_000;

export class CaptureClock {
  #offset: number | null = null;
  #at = 0;

  seen(stamp: number, now: number): void {
    const found = now - stamp;
    const crept =
      this.#offset === null ? found : this.#offset + (CREEP_PER_S * Math.max(0, now - this.#at)) / 1_000_000;
    this.#offset = found - crept > JUMP ? found : Math.min(found, crept);
    this.#at = now;
  }

  /** The time of capture on our clock. */
  at(stamp: number): number {
    return stamp + (this.#offset ?? 0);
  }
}
