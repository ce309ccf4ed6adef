/** Which media relays the region has, and which one somebody of a room is sent to. SPEC rules MEDIA-1 to MEDIA-3. */
import type { Limits } from '@parley/protocol/limits';
import type { MediaRelay } from '@parley/protocol/media';
import { Leases } from './leases.ts';
import { score } from './rendezvous.ts';

/** A room that asks: how many are in it, and how many of them were sent to a relay, by its name. */
export interface Crowd {
  readonly people: number;
  readonly sentTo: (relay: string) => number;
}

export class MediaRelays {
  readonly #leases: Leases<MediaRelay>;
  readonly #perRelay: number;

  constructor(limits: Pick<Limits, 'media.leaseDuration' | 'media.relays' | 'media.participantsPerRelay'>) {
    this.#perRelay = limits['media.participantsPerRelay'];
    this.#leases = new Leases({ lapseMs: limits['media.leaseDuration'], most: limits['media.relays'] });
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
   * The relay of a meeting (a room, or a live broadcast): meetings spread evenly. A room with more people than one relay is to carry has
   * several, and whoever asks is sent where the fewest of it are. Whoever has just lost the one at `exclude` gets another, if there is any:
   * that it is dead is known only after `media.leaseDuration`.
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

/** Those that take sessions, the most wished for first. */
function inOrder(meeting: string, living: readonly MediaRelay[]): MediaRelay[] {
  const leaves = living.filter(({ role }) => role === 'leaf');
  const serving = leaves.length > 0 ? leaves : living;
  const wish = ({ relay }: MediaRelay): number => score(meeting, relay);
  return serving
    .filter(({ sessions, capacity }) => sessions < capacity)
    .toSorted((one, other) => wish(other) - wish(one));
}
