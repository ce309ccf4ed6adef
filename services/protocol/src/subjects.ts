/** All NATS subjects and JetStream buckets. SPEC rules BUS-1 to BUS-3. */
import type { PodId, RegionId, RoomId } from './ids.ts';
import type { PageAddress } from './pages.ts';

const ROOT = 'parley.v1';

/** Heartbeats of all pods. */
export const heartbeatSubject = `${ROOT}.heartbeat`;
/** Roster and chat of a room, for pods with interest in it. Room ids contain no `.`, `*`, `>` or space. */
export const roomSubject = (room: RoomId): string => `${ROOT}.room.${room}`;
/** Messages to one pod: requests and answers. */
export const podSubject = (pod: PodId): string => `${ROOT}.pod.${pod}`;
/** Directed messages to the participants of one pod; they are not JSON. */
export const podDirectedSubject = (pod: PodId): string => `${ROOT}.directed.${pod}`;

/** Heartbeats of all pods, with the number of their visitors. */
export const pagesHeartbeatSubject = `${ROOT}.pages.heartbeat`;
/** Sections of a page, for pods with visitors that hold or want it. */
export const pageSubject = (page: PageAddress): string => `${ROOT}.pages.page.${page}`;
/** Messages about pages to one pod. */
export const podPagesSubject = (pod: PodId): string => `${ROOT}.pages.pod.${pod}`;
/** Directed messages to the visitors of one pod. */
export const podVisitorDirectedSubject = (pod: PodId): string => `${ROOT}.pages.directed.${pod}`;

/** Requests to the home region of named rooms. Its pods share them, as one queue group. */
export const homeSubject = (region: RegionId): string => `${ROOT}.home.${region}`;

/** Which regions answer for which homes: for the pods of all regions. */
export const homeTermsSubject = `${ROOT}.home-terms`;

/**
 * The lease of a media relay; NATS permits a relay to publish under its own name only. The pods of the region subscribe with `*`.
 * Names of relays contain letters, digits, `-` and `_`.
 */
export const mediaRelaySubject = (region: RegionId, relay: string): string =>
  `${ROOT}.media.relay.${region}.${relay}`;
/** Which participants are muted, for the media relays of all regions. */
export const relayMutesSubject = `${ROOT}.media.mutes`;
/** Leases of TURN nodes, for the pods of all regions. */
export const turnNodeSubject = `${ROOT}.turn.node`;
/** Revocations for the relays of all regions: rule STR-118 of the relay's STREAMS.md. */
export const revokedSubject = `${ROOT}.relay.revoked`;
/** A relay publishes its lease here; the relays of the region subscribe with `*`: rule STR-90. */
export const relayLeaseSubject = (region: RegionId, relay: string): string =>
  `${ROOT}.relay.lease.${region}.${relay}`;
/**
 * The lease of an origin of media for the origins of other regions, which subscribe with `*` for both. Only origins publish and receive it, so what
 * crosses between regions grows with them alone: rule MEDIA-18. It has one token more than the lease within a region, also one that is named `origin`,
 * and begins as that does, so no NATS server lets signaling read it, one of an earlier version neither.
 */
export const relayOriginSubject = (region: RegionId, relay: string): string =>
  `${ROOT}.relay.lease.origin.${region}.${relay}`;
/**
 * A relay that relays of other regions reach publishes here what it is to them; such relays of all regions subscribe with `*.*`: rule STR-139.
 */
export const relayPublicLeaseSubject = (region: RegionId, relay: string): string =>
  `${ROOT}.relay.public.${region}.${relay}`;
/** Requests to a relay for one-use codes that begin with its mark: rule STR-117. */
export const relayCodesSubject = (mark: string): string => `${ROOT}.relay.codes.${mark}`;

/** JetStream KV of a region: named rooms and their policy. Keys are room names. */
export const ROOMS_BUCKET = 'parley-rooms';
/** JetStream KV of a region: the seats of rooms with a cap. Keys are room names. */
export const SEATS_BUCKET = 'parley-seats';
/** JetStream KV of a region: the records that it follows of rooms of other regions. Keys are `{home region}.{room name}`. */
export const FOLLOWED_BUCKET = 'parley-followed';
/** JetStream KV of a region: the promotions that it knows. Keys are home regions. */
export const TERMS_BUCKET = 'parley-terms';
