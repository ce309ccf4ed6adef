/** `relay` on the socket (MEDIA-6, MEDIA-10): one request at a time, as the answer names none. */
import type { ClientMessage } from '@parley/protocol/client-messages';
import type { RelayOffer } from '@parley/protocol/http';
import type { Clock } from '../ports.ts';

/** The service answers from memory. */
const ANSWER_MS = 5000;

export class RelayRequests {
  readonly #clock: Clock;
  readonly #send: (message: Extract<ClientMessage, { type: 'relay' }>) => boolean;
  #answer: ((relay: RelayOffer | null | undefined) => void) | null = null;

  constructor(clock: Clock, send: (message: Extract<ClientMessage, { type: 'relay' }>) => boolean) {
    this.#clock = clock;
    this.#send = send;
  }

  /** `null`: the region has no relay that accepts sessions; `undefined`: there was no answer. */
  request(exclude?: string): Promise<RelayOffer | null | undefined> {
    this.#answer?.(undefined);
    if (!this.#send({ type: 'relay', ...(exclude === undefined ? {} : { exclude }) }))
      return Promise.resolve(undefined);
    const { promise, resolve } = Promise.withResolvers<RelayOffer | null | undefined>();
    const cancel = this.#clock.after(ANSWER_MS, () => resolve(undefined));
    this.#answer = resolve;
    return promise.finally(cancel);
  }

  answered(relay: RelayOffer | null): void {
    this.#answer?.(relay);
    this.#answer = null;
  }
}
