/**
 * When captured media is played here. One instance serves all media of one participant, so that audio and video stay synchronized by the
 * publisher's timestamps. The fastest frames show the offset of the two clocks; the additional delay of others is the jitter. The playout delay
 * follows it: up at once, down slowly. All times in ms.
 */

/** For decoding and coarse timers. */
const MARGIN_MS = 30;
export const MIN_TARGET_MS = 60;
/** A later frame is dropped. */
export const MAX_TARGET_MS = 500;
/** The half-life of the jitter estimate. */
const HALVED_MS = 4000;
/** A timestamp further ahead is malicious: no publisher is so far ahead. */
const MAX_AHEAD_MS = 60_000;
/** Clocks drift and routes change: the fastest frame counts for this long. */
const WINDOW_MS = 10_000;
const BUCKET_MS = 1000;
/** If all frames are late for this long, the estimate belongs to an earlier route. */
const ALL_LATE_MS = 1000;

export class Playout {
  /** The least transit time per second. */
  #fastest: { readonly since: number; transit: number }[] = [];
  #jitter = 0;
  #jitterAt = 0;
  #lateSince: number | null = null;

  /** A frame arrived. Frames of a group that began before we subscribed come in a burst and say nothing about the route. */
  arrived(timestampMs: number, now: number): void {
    const transit = now - timestampMs;
    const known = this.#offset();
    const lateness = known === null ? 0 : transit - known;
    if (lateness > MAX_TARGET_MS) {
      this.#lateSince ??= now;
      if (now - this.#lateSince < ALL_LATE_MS) return;
      this.#fastest = [];
    }
    this.#lateSince = null;
    this.#note(transit, now);
    const before = this.#decayed(now);
    this.#jitter = Math.max(Math.min(lateness, MAX_TARGET_MS), before, 0);
    this.#jitterAt = now;
  }

  /** The playout delay, from the fastest frame. */
  targetMs(now: number): number {
    return Math.min(MAX_TARGET_MS, Math.max(MIN_TARGET_MS, this.#decayed(now) + MARGIN_MS));
  }

  /** When to play the frame; `null` before the first one. */
  playAt(timestampMs: number, now: number): number | null {
    const offset = this.#offset();
    return offset === null ? null : Math.min(now + MAX_AHEAD_MS, timestampMs + offset + this.targetMs(now));
  }

  /** Whether the frame is due within this time; also before the first one. */
  isDue(timestampMs: number, now: number, timeoutMs: number): boolean {
    return (this.playAt(timestampMs, now) ?? now) - now <= timeoutMs;
  }

  #offset(): number | null {
    return this.#fastest.length === 0 ? null : Math.min(...this.#fastest.map(({ transit }) => transit));
  }

  #note(transit: number, now: number): void {
    const last = this.#fastest.at(-1);
    if (last === undefined || now - last.since >= BUCKET_MS) this.#fastest.push({ since: now, transit });
    else last.transit = Math.min(last.transit, transit);
    this.#fastest = this.#fastest.filter(({ since }) => now - since <= WINDOW_MS);
  }

  #decayed(now: number): number {
    return this.#jitter * 0.5 ** ((now - this.#jitterAt) / HALVED_MS);
  }
}
