/** The media relays of the region, and the relay that a participant of a room is sent to. SPEC rules MEDIA-1 to MEDIA-3. */
import type { Limits } from '@parley/protocol/limits';
import type { MediaRelay } from '@parley/protocol/media';
import { Leases } from './leases.ts';
import { score } from './rendezvous.ts';

/** The size of a room in the region, and how many of its participants were sent to the relay of a name. */
export interface Crowd {
  readonly people: number;
  readonly sentTo: (relay: string) => number;
}

export class MediaRelays {
  readonly #leases: Leases<MediaRelay>;
  readonly #perRelay: number;

  constructor(limits: Pick<Limits, 'media.leaseDuration' | 'media.relays' | 'media.participantsPerRelay'>) {
    this.#perRelay = limits['media.participantsPerRelay'];
    this.#leases = new Leases({ durationMs: limits['media.leaseDuration'], max: limits['media.relays'] });
  }

  /** The lease of a relay arrived. `now` in ms, from a monotonic clock. */
  onLease(relay: MediaRelay, now: number): void {
    this.#leases.renew(relay.relay, relay, now);
  }

  /** How many relays have a lease that has not lapsed and do not drain. */
  count(now: number): number {
    return this.#leases.living(now).length;
  }

  /**
   * The relay of a meeting (a room, or a live broadcast); meetings are spread evenly. A room with more participants than one relay is to carry has
   * several relays, and each participant is sent to the one with the fewest of them. A participant that just lost the relay at `exclude` gets another
   * where there is one: that the relay is dead is known only after `media.leaseDuration`.
   */
  pick(meeting: string, now: number, exclude?: string, crowd?: Crowd): MediaRelay | undefined {
    const living = this.#leases.living(now);
    const others = living.filter(({ url }) => url !== exclude);
    return this.#choose(meeting, others, crowd) ?? this.#choose(meeting, living, crowd);
  }

  #choose(meeting: string, living: readonly MediaRelay[], crowd?: Crowd): MediaRelay | undefined {
    const [first, ...rest] = inOrder(meeting, living);
    if (first === undefined || crowd === undefined) return first;
    const more = rest.slice(0, Math.ceil(crowd.people / this.#perRelay) - 1);
    return more.reduce(
      (found, relay) => (crowd.sentTo(relay.relay) < crowd.sentTo(found.relay) ? relay : found),
      first,
    );
  }
}

/** Relays that accept sessions, in order of preference for the meeting. */
function inOrder(meeting: string, living: readonly MediaRelay[]): MediaRelay[] {
  const leaves = living.filter(({ role }) => role === 'leaf');
  const serving = leaves.length > 0 ? leaves : living;
  const preference = ({ relay }: MediaRelay): number => score(meeting, relay);
  return serving
    .filter(({ sessions, capacity }) => sessions < capacity)
    .toSorted((one, other) => preference(other) - preference(one));
}
