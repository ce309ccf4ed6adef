/**
 * Requests new ICE servers before the TURN credentials expire, and when a path breaks, because its TURN node may have failed. SPEC rules TURN-2,
 * TURN-7.
 */
import type { IceOffer } from '@parley/protocol/http';
import { renewIn } from './ice-servers.ts';
import type { Clock, Random } from '../ports.ts';

/** The pause between two requests after broken paths: many paths break at the same time. */
const PAUSE_MS = 5000;
/** The interval of repeated requests: the socket may be down, or the answer may be lost. */
const REPEAT_MS = 60_000;

export interface IceRenewalOptions {
  readonly clock: Clock;
  readonly random: Random;
  request(): void;
}

export class IceRenewal {
  readonly #options: IceRenewalOptions;
  #requestedAt = Number.NEGATIVE_INFINITY;
  #cancel: () => void = () => undefined;

  constructor(options: IceRenewalOptions) {
    this.#options = options;
  }

  /** The service sent servers, in the welcome or in an answer. */
  received({ iceTtlS }: IceOffer): void {
    const wait = renewIn(iceTtlS, this.#options.random);
    if (wait === null) this.#cancel();
    else this.#requestIn(wait);
  }

  /** The service does not answer requests before this time. */
  refused(retryAfterMs: number): void {
    this.#requestIn(retryAfterMs);
  }

  pathBroke(): void {
    const wait = this.#requestedAt + PAUSE_MS - this.#options.clock.now();
    if (wait > 0) this.#requestIn(wait);
    else this.#request();
  }

  close(): void {
    this.#cancel();
  }

  #request(): void {
    this.#requestedAt = this.#options.clock.now();
    this.#requestIn(REPEAT_MS);
    this.#options.request();
  }

  #requestIn(ms: number): void {
    this.#cancel();
    this.#cancel = this.#options.clock.after(ms, () => this.#request());
  }
}
