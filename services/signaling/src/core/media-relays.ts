/** Which media relays the region has, and which one a room meets at. SPEC rules MEDIA-1 to MEDIA-3. */
import type { Limits } from '@parley/protocol/limits';
import type { MediaRelay } from '@parley/protocol/media';

interface Known {
  readonly relay: MediaRelay;
  readonly until: number;
}

export class MediaRelays {
  readonly #limits: Pick<Limits, 'media.relayLapse' | 'media.relays'>;
  readonly #known = new Map<string, Known>();

  constructor(limits: Pick<Limits, 'media.relayLapse' | 'media.relays'>) {
    this.#limits = limits;
  }

  /** What a relay says of itself. `now` in ms, of a clock that only goes forward. */
  heard(relay: MediaRelay, now: number): void {
    this.#lapse(now);
    const known = this.#known.get(relay.relay);
    // A late word of the run before.
    if (known !== undefined && known.relay.epoch > relay.epoch) return;
    if (known === undefined && this.#known.size >= this.#limits['media.relays']) return;
    this.#known.set(relay.relay, { relay, until: now + this.#limits['media.relayLapse'] });
  }

  /** How many would be sent somebody. */
  count(now: number): number {
    return this.#living(now).length;
  }

  /**
   * Everyone of a meeting (a room, or a live broadcast) is sent to the same relay while it takes sessions, and meetings spread evenly:
   * the highest score of (meeting, relay) wins, so that a relay that comes or goes moves only those that it wins or had.
   * Whoever has just lost the one at `without` gets another, if there is any: that it is dead is known only after `media.relayLapse`.
   */
  pick(meeting: string, now: number, without?: string): MediaRelay | undefined {
    const living = this.#living(now);
    const others = living.filter(({ url }) => url !== without);
    return best(meeting, others) ?? best(meeting, living);
  }

  #living(now: number): MediaRelay[] {
    this.#lapse(now);
    return Array.from(this.#known.values(), ({ relay }) => relay).filter(({ gone }) => gone !== true);
  }

  /** One that went is remembered as long, so that an earlier word that comes late does not bring it back. */
  #lapse(now: number): void {
    for (const [name, { until }] of this.#known) if (until <= now) this.#known.delete(name);
  }
}

function best(meeting: string, living: readonly MediaRelay[]): MediaRelay | undefined {
  const leaves = living.filter(({ role }) => role === 'leaf');
  const serving = leaves.length > 0 ? leaves : living;
  const free = serving.filter(({ sessions, capacity }) => sessions < capacity);
  return free.reduce<MediaRelay | undefined>(
    (found, relay) => (found === undefined || score(meeting, relay) > score(meeting, found) ? relay : found),
    undefined,
  );
}

/** FNV-1a with the finalizer of MurmurHash3: every bit of the names counts for the order. */
function score(meeting: string, { relay }: MediaRelay): number {
  let hash = 0x811c9dc5;
  for (const symbol of `${relay}/${meeting}`)
    hash = Math.imul(hash ^ (symbol.codePointAt(0) ?? 0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
