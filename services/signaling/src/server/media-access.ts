/**
 * Grants participants access to media relays and revokes it: a pod signs tokens that relays verify, and never calls a relay. SPEC rules MEDIA-3 to
 * MEDIA-7, MEDIA-17, MEDIA-24 and MEDIA-29.
 */
import { randomBytes } from 'node:crypto';
import type { LiveRequest, Region, RelayOffer, StandbyRelay } from '@parley/protocol/http';
import {
  participantId,
  regionIn,
  type ParticipantId,
  type RegionId,
  type RoomId,
} from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import {
  MAX_RELAY_MUTES,
  liveBroadcast,
  participantBroadcasts,
  roomBroadcasts,
  type MediaRelay,
} from '@parley/protocol/media';
import type { MediaClaims } from '@parley/protocol/tokens';
import type { Logger } from 'pino';
import type { Tokens } from '../adapters/tokens.ts';
import type { Effect } from '../core/effects.ts';
import { MediaRelays, type Crowd } from '../core/media-relays.ts';
import type { Person } from '../core/person.ts';
import type { MediaBus, MediaListener } from '../core/ports.ts';
import type { MediaHosts } from './media-hosts.ts';
import type { Metrics } from './metrics.ts';

export interface MediaAccessParts {
  readonly limits: Limits;
  readonly tokens: Tokens;
  readonly openMedia: (listener: MediaListener) => MediaBus;
  readonly hosts: MediaHosts;
  /** Their relays may stand by. */
  readonly otherRegions: readonly Region[];
  readonly metrics: Pick<Metrics, 'refusedRelays'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly now: () => number;
  /** By `HeardClock`. */
  readonly leaseNow: () => number;
}

interface Where {
  readonly meeting: string;
  readonly exclude: string | undefined;
  readonly crowd: Crowd | undefined;
}
type Rights = Pick<MediaClaims, 'sub' | 'generation' | 'publish' | 'subscribe' | 'trace'>;
export interface RelayAsked {
  /** The URL of the relay that the participant has just lost. */
  readonly exclude?: string | undefined;
  /** The claim of the token for the relay. */
  readonly trace?: string | undefined;
}

/** An answer to a participant. */
export interface Assignment {
  readonly relay: RelayOffer | null;
  readonly standby?: StandbyRelay;
}
type Departure = Effect & { type: 'departed' };
type RelayMuting = Effect & { type: 'relay-mutes' };

/**
 * How long the tokens of removed participants stay revoked: long enough for a relay that was disconnected from the bus to receive the revocation, and
 * shorter than a session may last, as an owner who admits and removes a hundred participants a minute would fill the relays' list.
 */
const REMOVED_MS = 3_600_000;
/** Expired entries are looked for once in this time: the search steps over the holes that departed participants left at the front. */
const SWEEP_MS = 60_000;
const REMOVED: ReadonlySet<Departure['reason']> = new Set(['kicked', 'banned', 'room-deleted']);

/** A relay publishes its lease every 2 s, and a compromised one as often as it likes. */
const REFUSED_LINE_MS = 10_000;

/** Clocks of pods and relays may differ by this much. */
const CLOCK_TOLERANCE_S = 5;

export class MediaAccess {
  readonly #parts: MediaAccessParts;
  readonly #relays: MediaRelays;
  /** Those of other regions; their names begin with the region. */
  readonly #farRelays: MediaRelays;
  readonly #bus: MediaBus;
  /** When the log last named a refused relay. */
  #refusedAt = -Infinity;
  /** Participants that were given a token here, the oldest first: for which relay, and until when a session with it may last. */
  readonly #given = new Map<ParticipantId, { readonly relay: string; readonly until: number }>();
  #sweepAt = -Infinity;

  constructor(parts: MediaAccessParts) {
    this.#parts = parts;
    this.#relays = new MediaRelays(parts.limits);
    this.#farRelays = new MediaRelays(parts.limits);
    this.#bus = parts.openMedia({
      onRelay: (relay) => this.#onLease(this.#relays, relay),
      onFarRelay: (region, relay) =>
        this.#onLease(this.#farRelays, { ...relay, relay: farName(region, relay) }),
    });
  }

  #onLease(relays: MediaRelays, relay: MediaRelay): void {
    const { hosts, metrics, log, now, leaseNow } = this.#parts;
    if (hosts.allows(relay.url)) return relays.onLease(relay, leaseNow());
    metrics.refusedRelays += 1;
    if (now() - this.#refusedAt < REFUSED_LINE_MS) return;
    this.#refusedAt = now();
    log.warn({ relay: relay.relay, url: relay.url }, 'media relay refused: host not in PARLEY_MEDIA_HOSTS');
  }

  /** How many relays participants are sent to. */
  get relays(): number {
    return this.#relays.count(this.#parts.leaseNow());
  }

  /** `people`: the participants of the room in this region. */
  offer(
    room: RoomId,
    { participant, generation }: Pick<Person, 'participant' | 'generation'>,
    people: readonly ParticipantId[],
    { exclude, trace }: RelayAsked = {},
  ): Assignment {
    const rights = {
      sub: participant,
      generation,
      publish: [participantBroadcasts(room, participant)],
      subscribe: [roomBroadcasts(room)],
      ...(trace !== undefined && { trace }),
    };
    const others = people.filter((one) => one !== participant).map((one) => this.#given.get(one)?.relay);
    const crowd = {
      people: people.length,
      sentTo: (relay: string) => others.filter((one) => one === relay).length,
    };
    const relay = this.#offer({ meeting: room, exclude, crowd }, rights, (chosen) =>
      this.#remember(participant, chosen.relay),
    );
    const { limits, leaseNow, otherRegions } = this.#parts;
    const far = this.#farRelays.pick(room, leaseNow(), exclude);
    const region = far && otherRegions.find(({ name }) => name === regionIn(far.relay));
    if (far === undefined || region === undefined) return { relay };
    if (relay === null) this.#remember(participant, far.relay);
    const { url, certificateHashes } = far;
    // Relays know the keys of all regions.
    const token = relay?.token ?? this.#sign(rights);
    const renewAfterMs = limits['media.tokenMaxAge'] / 2;
    return { relay, standby: { url, token, certificateHashes, api: region.url, renewAfterMs } };
  }

  /** For a live broadcast. Its tokens are never revoked, as no departures are known. */
  offerLive(name: string, { publish, exclude }: LiveRequest): RelayOffer | null {
    const broadcast = liveBroadcast(name);
    const rights = {
      sub: participantId(randomBytes(16)),
      publish: publish === true ? [broadcast] : [],
      subscribe: [broadcast],
    };
    return this.#offer({ meeting: broadcast, exclude, crowd: undefined }, rights);
  }

  #offer(where: Where, rights: Rights, onFound = (_relay: MediaRelay): void => {}): RelayOffer | null {
    const relay = this.#relays.pick(where.meeting, this.#parts.leaseNow(), where.exclude, where.crowd);
    if (relay === undefined) return null;
    onFound(relay);
    return { url: relay.url, token: this.#sign(rights), certificateHashes: relay.certificateHashes };
  }

  #sign(rights: Rights): string {
    const { limits, tokens } = this.#parts;
    return tokens.signMedia({ ...rights, iat: nowS() }, limits['media.session']);
  }

  /** A participant that left with reason `lost` may have been given a token by a pod that died. */
  departed({ participant, generation, reason, wasHere, wasInRegion }: Departure): void {
    // Its pod is silent here, while those of its own region may hear it. Any other end was published by its pod.
    if (reason === 'lost' && !wasInRegion) return;
    const { limits } = this.#parts;
    const had = this.#given.delete(participant);
    if (!this.#hasRelays()) return;
    if (wasHere && REMOVED.has(reason))
      this.#revoke(participant, generation, Math.min(REMOVED_MS, limits['media.session']));
    else if (had || reason === 'lost') this.#revoke(participant, generation, limits['media.tokenMaxAge']);
  }

  /** Relays of other regions have listeners of the room as well. */
  mute({ muted, unmuted }: RelayMuting): void {
    if (!this.#hasRelays()) return;
    for (let from = 0; from < Math.max(muted.length, unmuted.length); from += MAX_RELAY_MUTES) {
      const part = (list: readonly ParticipantId[]): ParticipantId[] =>
        list.slice(from, from + MAX_RELAY_MUTES);
      this.#bus.mute({ muted: part(muted), unmuted: part(unmuted) });
    }
  }

  /** Tokens open sessions at relays of other regions too. */
  #hasRelays(): boolean {
    return this.relays + this.#farRelays.count(this.#parts.leaseNow()) > 0;
  }

  #remember(participant: ParticipantId, relay: string): void {
    const now = this.#parts.now();
    this.#given.delete(participant);
    this.#given.set(participant, { relay, until: now + this.#parts.limits['media.session'] });
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + SWEEP_MS;
    for (const [oldest, { until }] of this.#given) {
      if (until > now) break;
      this.#given.delete(oldest);
    }
  }

  #revoke(participant: ParticipantId, generation: number, forMs: number): void {
    this.#bus.revoke({
      participant,
      generation,
      untilS: nowS() + Math.ceil(forMs / 1000) + CLOCK_TOLERANCE_S,
    });
  }
}

const farName = (region: RegionId, { relay }: MediaRelay): string => `${region}_${relay}`;

const nowS = (): number => Math.floor(Date.now() / 1000);
