/** The pace of data through the service: far below `socket.messages` and `socket.bytes`, which signals need as well. SPEC rule DATA-2. */
import type { Clock } from '../ports.ts';

const MESSAGES = { burst: 60, perSecond: 20 };
const BYTES = { burst: 262_144, perSecond: 65_536 };

export class ServicePace {
  readonly #clock: Clock;
  #messages = MESSAGES.burst;
  #bytes = BYTES.burst;
  #at: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#at = clock.now();
  }

  /** `false`, and nothing is taken: too many messages or bytes. */
  take(bytes: number): boolean {
    const now = this.#clock.now();
    const seconds = (now - this.#at) / 1000;
    this.#at = now;
    this.#messages = Math.min(MESSAGES.burst, this.#messages + seconds * MESSAGES.perSecond);
    this.#bytes = Math.min(BYTES.burst, this.#bytes + seconds * BYTES.perSecond);
    if (this.#messages < 1 || this.#bytes < bytes) return false;
    this.#messages -= 1;
    this.#bytes -= bytes;
    return true;
  }
}
