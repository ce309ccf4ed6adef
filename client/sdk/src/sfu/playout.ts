/**
 * When what was captured at some time is to be seen or heard here. One for everything of one person, so that sound and picture stay in step
 * by the publisher's timestamps. The fastest frames say how the two clocks lie; how much later others come is the jitter, and the delay
 * follows it: at once upwards, slowly down. All times in ms.
 */

/** Decoding, and the coarseness of timers. */
const MARGIN_MS = 30;
export const LEAST_TARGET_MS = 60;
/** Whoever is later than this is dropped and not waited for. */
export const MOST_TARGET_MS = 500;
/** The jitter is forgotten by half within about this. */
const HALVED_MS = 4000;
/** What says that it is for later than that says so to stop us: no publisher is so far ahead. */
const MOST_AHEAD_MS = 60_000;
/** Clocks drift and routes change: what was fastest counts for so long. */
const WINDOW_MS = 10_000;
const BUCKET_MS = 1000;
/** When everything is too late for this long, the old measure was of another route. */
const ALL_LATE_MS = 1000;

export class Playout {
  /** Least transit, by second. */
  #fastest: { readonly since: number; transit: number }[] = [];
  #jitter = 0;
  #jitterAt = 0;
  #lateSince: number | null = null;

  /** A frame came; frames of a group that began before we listened come in a burst and say nothing about the route. */
  arrived(timestampMs: number, now: number): void {
    const transit = now - timestampMs;
    const known = this.#offset();
    const lateness = known === null ? 0 : transit - known;
    if (lateness > MOST_TARGET_MS) {
      this.#lateSince ??= now;
      if (now - this.#lateSince < ALL_LATE_MS) return;
      this.#fastest = [];
    }
    this.#lateSince = null;
    this.#note(transit, now);
    const before = this.#decayed(now);
    this.#jitter = Math.max(Math.min(lateness, MOST_TARGET_MS), before, 0);
    this.#jitterAt = now;
  }

  /** How long after the fastest frame everything is played. */
  targetMs(now: number): number {
    return Math.min(MOST_TARGET_MS, Math.max(LEAST_TARGET_MS, this.#decayed(now) + MARGIN_MS));
  }

  /** When to play it; `null` before anything came. */
  playAt(timestampMs: number, now: number): number | null {
    const offset = this.#offset();
    return offset === null ? null : Math.min(now + MOST_AHEAD_MS, timestampMs + offset + this.targetMs(now));
  }

  /** Whether it is to be played within so many ms, also before anything came. */
  isDue(timestampMs: number, now: number, withinMs: number): boolean {
    return (this.playAt(timestampMs, now) ?? now) - now <= withinMs;
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
