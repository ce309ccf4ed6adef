/** Asks for ICE servers again before the TURN credentials end, and when a path breaks, as its TURN node may be gone. SPEC rules TURN-2, TURN-7. */
import type { IceOffer } from '@parley/protocol/http';
import { renewIn } from './ice-servers.ts';
import type { Clock, Random } from '../ports.ts';

/** Between two requests because of paths that broke: many break at once. */
const PAUSE_MS = 5000;
/** The socket may be down, or the answer lost. */
const ASK_AGAIN_MS = 60_000;

export interface IceRenewalOptions {
  readonly clock: Clock;
  readonly random: Random;
  ask(): void;
}

export class IceRenewal {
  readonly #options: IceRenewalOptions;
  #askedAt = Number.NEGATIVE_INFINITY;
  #cancel: () => void = () => undefined;

  constructor(options: IceRenewalOptions) {
    this.#options = options;
  }

  /** The service told servers: at the welcome, or as it was asked. */
  told({ iceTtlS }: IceOffer): void {
    const wait = renewIn(iceTtlS, this.#options.random);
    if (wait === null) this.#cancel();
    else this.#askIn(wait);
  }

  /** The service does not answer before that. */
  refused(retryAfterMs: number): void {
    this.#askIn(retryAfterMs);
  }

  pathBroke(): void {
    const wait = this.#askedAt + PAUSE_MS - this.#options.clock.now();
    if (wait > 0) this.#askIn(wait);
    else this.#ask();
  }

  close(): void {
    this.#cancel();
  }

  #ask(): void {
    this.#askedAt = this.#options.clock.now();
    this.#askIn(ASK_AGAIN_MS);
    this.#options.ask();
  }

  #askIn(ms: number): void {
    this.#cancel();
    this.#cancel = this.#options.clock.after(ms, () => this.#ask());
  }
}
