/**
 * `relay` on the socket (MEDIA-6, MEDIA-10): one request at a time, as the answer names none. With the relay of another region that the answers name,
 * media goes on before signaling does (MEDIA-25).
 */
import type { ClientMessage } from '@parley/protocol/client-messages';
import type { StandbyRelay } from '@parley/protocol/http';
import type { RelayAnswer } from '@parley/protocol/server-messages';
import type { Clock, OfferedRelay } from '../ports.ts';

/** The service answers from memory. */
const ANSWER_MS = 5000;
/** Where another relay is known, and ours is lost: several round trips to the nearest region. */
const STANDBY_AFTER_MS = 400;

export class RelayRequests {
  readonly #clock: Clock;
  readonly #send: (message: Extract<ClientMessage, { type: 'relay' }>) => boolean;
  /** Without effect once it was called. */
  #answer: ((relay: OfferedRelay | null | undefined) => void) | undefined;
  #exclude: string | undefined;
  #standby: StandbyRelay | undefined;
  #standbyUntil = 0;
  #renewing = false;
  #cancelRenewal: () => void = () => undefined;

  constructor(clock: Clock, send: (message: Extract<ClientMessage, { type: 'relay' }>) => boolean) {
    this.#clock = clock;
    this.#send = send;
  }

  /**
   * `null`: no region has a relay that accepts sessions; `undefined`: there was no answer. `isLost`: there is no working relay, so that of another
   * region is taken where there is no answer soon.
   */
  request(exclude?: string, isLost = false): Promise<OfferedRelay | null | undefined> {
    this.#answer?.(undefined);
    this.#exclude = exclude;
    const isFresh = this.#clock.now() < this.#standbyUntil && this.#standby?.url !== exclude;
    const standby = isLost && isFresh ? this.#standby : undefined;
    if (!this.#send({ type: 'relay', ...(exclude === undefined ? {} : { exclude }) }))
      return Promise.resolve(standby);
    const { promise, resolve } = Promise.withResolvers<OfferedRelay | null | undefined>();
    const cancel = this.#clock.after(standby ? STANDBY_AFTER_MS : ANSWER_MS, () => resolve(standby));
    this.#answer = resolve;
    return promise.finally(cancel);
  }

  answered({ relay, standby }: RelayAnswer): void {
    this.#keep(standby);
    const isOfRenewal = this.#renewing && relay && relay.url === this.#exclude;
    this.#renewing = false;
    if (isOfRenewal) return;
    this.#answer?.(relay ?? standby ?? null);
  }

  /** On a new socket, and from time to time. */
  renew(): void {
    this.#renewing = !!this.#standby && this.#send({ type: 'relay' });
  }

  close(): void {
    this.#cancelRenewal();
    this.#standby = undefined;
  }

  #keep(standby: StandbyRelay | undefined): void {
    this.close();
    this.#standby = standby;
    if (!standby) return;
    this.#standbyUntil = this.#clock.now() + 2 * standby.renewAfterMs;
    this.#cancelRenewal = this.#clock.after(standby.renewAfterMs, () => this.renew());
  }
}
