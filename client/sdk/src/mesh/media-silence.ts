/**
 * Detects that media of a participant who signals it no longer arrives. ICE takes about seven seconds to report a broken path without packets (RFC
 * 7675 allows thirty); audio packets arrive fifty times a second, so their absence shows it much sooner. Pure.
 */

/** Longer than a pause of a busy device or a short loss of radio. An unnecessary ICE restart costs some messages and no media. */
const SILENT_MS = 1500;

export class MediaSilence {
  #newest: number | undefined;
  #since = 0;
  #reported = false;

  /**
   * `true` once for each silence. `newest`: the newest packet that arrived, `undefined` before the first; `expected`: the participant signals
   * media.
   */
  begins(newest: number | undefined, expected: boolean, now: number): boolean {
    if (newest !== this.#newest || !expected) {
      this.#newest = newest;
      this.#since = now;
      this.#reported = false;
    }
    if (this.#reported || newest === undefined || now - this.#since < SILENT_MS) return false;
    this.#reported = true;
    return true;
  }

  /** A silence was reported and lasts. */
  get lasts(): boolean {
    return this.#reported;
  }
}
