/**
 * Reduces the subscribed video if the network or the CPU cannot handle it: first smaller sizes, then fewer cameras. The level rises after some
 * seconds of trouble and falls after a calm time, which grows each time it proves too short. Audio is never reduced.
 */
import type { Size } from '../media.ts';

export type Level = 0 | 1 | 2;

/** Trouble for most of two seconds. */
const MAX_TROUBLE_MS = 1500;
const RELIEF = 0.5;
/** A page that is blocked measures seldom: a measurement stands for no longer than this. */
const MAX_MEASURED_MS = 1000;
/** A reduction takes this long to have an effect. */
const SETTLE_MS = 3000;
const CALM_MS = 10_000;
const MAX_CALM_MS = 160_000;

export class VideoReduction {
  #level: Level = 0;
  #troubleMs = 0;
  #lookedAt: number | null = null;
  #changedAt = Number.NEGATIVE_INFINITY;
  #troubledAt = Number.NEGATIVE_INFINITY;
  #calmMs = CALM_MS;
  #wentDown = false;

  get level(): Level {
    return this.#level;
  }

  /** `troubled`: since the last measurement. Returns whether the level changed. */
  look(troubled: boolean, now: number): boolean {
    const measuredMs = Math.min(MAX_MEASURED_MS, now - (this.#lookedAt ?? now));
    this.#lookedAt = now;
    if (now - this.#changedAt < SETTLE_MS) return false;
    this.#troubleMs = Math.max(0, this.#troubleMs + (troubled ? measuredMs : -RELIEF * measuredMs));
    if (troubled) this.#troubledAt = now;
    if (this.#troubleMs >= MAX_TROUBLE_MS && this.#level < 2) {
      // It was calm only because little was subscribed.
      if (this.#wentDown) this.#calmMs = Math.min(MAX_CALM_MS, 2 * this.#calmMs);
      return this.#change(this.#level === 0 ? 1 : 2, false, now);
    }
    const calmSince = Math.max(this.#troubledAt, this.#changedAt);
    if (this.#level > 0 && now - calmSince >= this.#calmMs)
      return this.#change(this.#level === 2 ? 1 : 0, true, now);
    return false;
  }

  #change(level: Level, down: boolean, now: number): true {
    this.#level = level;
    this.#wentDown = down;
    this.#troubleMs = 0;
    this.#changedAt = now;
    return true;
  }
}

/**
 * Whether our own network or CPU is the cause: of several participants that are shown, at least half must arrive badly; one alone may have a slow
 * network, or pretend it. `null`: no video of the participant is shown.
 */
export function isOwnOverload(troubled: readonly (boolean | null)[]): boolean {
  const shown = troubled.filter((one) => one !== null);
  return shown.length > 0 && 2 * shown.filter(Boolean).length >= shown.length;
}

const SMALL: Size = { width: 320, height: 180 };
/** Of many cameras only the largest ones are kept. */
const FEW = 4;

/** The sizes to subscribe to; `null`: no video. */
export function reduceVideo<Key>(shown: ReadonlyMap<Key, Size | null>, level: Level): Map<Key, Size | null> {
  if (level === 0) return new Map(shown);
  const area = (size: Size | null): number => (size === null ? 0 : size.width * size.height);
  const largest = [...shown].toSorted(([, one], [, other]) => area(other) - area(one)).map(([key]) => key);
  const few = new Set(level === 1 ? largest : largest.slice(0, FEW));
  const small = (size: Size): Size => (area(size) > area(SMALL) ? SMALL : size);
  return new Map([...shown].map(([key, size]) => [key, size !== null && few.has(key) ? small(size) : null]));
}
