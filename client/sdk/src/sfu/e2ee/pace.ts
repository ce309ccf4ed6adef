/** A token bucket for messages about keys: below `socket.messages` and `socket.messageBurst`, which other messages need as well. */
import type { Clock } from '../../ports.ts';

const BURST = 150;
const PER_SECOND = 25;

export class Pace {
  readonly #clock: Clock;
  #left = BURST;
  #at: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#at = clock.now();
  }

  allows(): boolean {
    const now = this.#clock.now();
    this.#left = Math.min(BURST, this.#left + ((now - this.#at) / 1000) * PER_SECOND);
    this.#at = now;
    return this.#left >= 1;
  }

  take(): void {
    this.#left -= 1;
  }
}
