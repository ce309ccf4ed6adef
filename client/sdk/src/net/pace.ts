/** A token bucket, for what this client sends through the service: below `socket.messages` and `socket.bytes`, which other messages need as well. */
import type { Clock } from '../ports.ts';

export interface PaceLimits {
  readonly burst: number;
  readonly perSecond: number;
}

export class Pace {
  readonly #clock: Clock;
  readonly #limits: PaceLimits;
  #left: number;
  #at: number;

  constructor(clock: Clock, limits: PaceLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#left = limits.burst;
    this.#at = clock.now();
  }

  /** `count`: messages, or bytes. */
  allows(count = 1): boolean {
    const { burst, perSecond } = this.#limits;
    const now = this.#clock.now();
    this.#left = Math.min(burst, this.#left + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
    return this.#left >= count;
  }

  take(count = 1): void {
    this.#left -= count;
  }
}
