/**
 * Whether somebody who says that they send is not heard any more. ICE takes some seven seconds to call a path broken over which nothing
 * comes (RFC 7675 allows thirty); sound comes fifty times a second, so its absence tells much sooner. Pure.
 */

/** Longer than a pause of a busy device or a short loss of radio; an ICE restart for nothing costs some messages and no media. */
const SILENT_MS = 1500;

export class MediaSilence {
  #newest: number | undefined;
  #since = 0;
  #told = false;

  /** Tells each silence once. `newest` names the newest packet that arrived, `undefined` before the first; `expected`: they say they send. */
  begins(newest: number | undefined, expected: boolean, now: number): boolean {
    if (newest !== this.#newest || !expected) {
      this.#newest = newest;
      this.#since = now;
      this.#told = false;
    }
    if (this.#told || newest === undefined || now - this.#since < SILENT_MS) return false;
    this.#told = true;
    return true;
  }

  /** It was told, and nothing came since. */
  get lasts(): boolean {
    return this.#told;
  }
}
