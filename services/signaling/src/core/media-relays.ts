/** Which media relays the region has, and which one a room meets at. SPEC rules MEDIA-1 to MEDIA-3. */
import type { Limits } from '@parley/protocol/limits';
import type { MediaRelay } from '@parley/protocol/media';
import { Leases } from './leases.ts';
import { score } from './rendezvous.ts';

export class MediaRelays {
  readonly #leases: Leases<MediaRelay>;

  constructor(limits: Pick<Limits, 'media.relayLapse' | 'media.relays'>) {
    this.#leases = new Leases({ lapseMs: limits['media.relayLapse'], most: limits['media.relays'] });
  }

  /** What a relay says of itself. `now` in ms, of a clock that only goes forward. */
  heard(relay: MediaRelay, now: number): void {
    this.#leases.heard(relay.relay, relay, now);
  }

  /** How many would be sent somebody. */
  count(now: number): number {
    return this.#leases.living(now).length;
  }

  /**
   * Everyone of a meeting (a room, or a live broadcast) is sent to the same relay while it takes sessions, and meetings spread evenly.
   * Whoever has just lost the one at `without` gets another, if there is any: that it is dead is known only after `media.relayLapse`.
   */
  pick(meeting: string, now: number, without?: string): MediaRelay | undefined {
    const living = this.#leases.living(now);
    const others = living.filter(({ url }) => url !== without);
    return best(meeting, others) ?? best(meeting, living);
  }
}

function best(meeting: string, living: readonly MediaRelay[]): MediaRelay | undefined {
  const leaves = living.filter(({ role }) => role === 'leaf');
  const serving = leaves.length > 0 ? leaves : living;
  const free = serving.filter(({ sessions, capacity }) => sessions < capacity);
  const wish = ({ relay }: MediaRelay): number => score(meeting, relay);
  return free.reduce<MediaRelay | undefined>(
    (found, relay) => (found === undefined || wish(relay) > wish(found) ? relay : found),
    undefined,
  );
}
