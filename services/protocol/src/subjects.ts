/** The one place for NATS subjects and JetStream buckets. SPEC rules BUS-1 to BUS-3. */
import type { PodId, RegionId, RoomId } from './ids.ts';
import type { PageAddress } from './pages.ts';

const ROOT = 'parley.v1';

/** A region's pods hear every pod's beat here. */
export const beatSubject = `${ROOT}.beat`;
/** Pods with interest in a room hear its roster and chat here. Room ids hold no `.`, `*`, `>` or space. */
export const roomSubject = (room: RoomId): string => `${ROOT}.room.${room}`;
/** What is meant for one pod only: answers, questions and directed messages for the people it holds. */
export const podSubject = (pod: PodId): string => `${ROOT}.pod.${pod}`;
/** The same for directed messages, which are not JSON. */
export const podDirectedSubject = (pod: PodId): string => `${ROOT}.directed.${pod}`;

/** Every pod says here how many visitors it has; all pods hear it. */
export const pagesSubject = `${ROOT}.pages`;
/** Pods with visitors who hold or want a page hear here how many others do. */
export const pageSubject = (page: PageAddress): string => `${ROOT}.page.${page}`;
/** What is meant for one pod only: answers about pages, and directed messages for its visitors. */
export const podPagesSubject = (pod: PodId): string => `${ROOT}.pages-of.${pod}`;
export const podVisitorsSubject = (pod: PodId): string => `${ROOT}.visitors-of.${pod}`;

/**
 * A media relay publishes here what it is; NATS lets it publish on no other name than its own. The pods of the region subscribe with `*`.
 * Names of relays hold letters, digits, `-` and `_`.
 */
export const mediaRelaySubject = (region: RegionId, relay: string): string =>
  `${ROOT}.media.relay.${region}.${relay}`;
/** TURN nodes say here what they are; the pods of all regions hear it. */
export const turnNodeSubject = `${ROOT}.turn.node`;
/** Who is sent away from the relays of all regions before their token is over: rule STR-118 of the relay's STREAMS.md. */
export const revokedSubject = `${ROOT}.relay.revoked`;
/** A relay publishes its lease here; the relays of the region subscribe with `*`: rule STR-90. */
export const relayLeaseSubject = (region: RegionId, relay: string): string =>
  `${ROOT}.relay.lease.${region}.${relay}`;
/** A relay is asked here for one-use codes that begin with its mark: rule STR-117. */
export const relayCodesSubject = (mark: string): string => `${ROOT}.relay.codes.${mark}`;

/** JetStream KV of a region: named rooms and their policy. Keys are room names. */
export const ROOMS_BUCKET = 'parley-rooms';
/** JetStream KV of a region: who sits in a room with a cap. Keys are room names. */
export const SEATS_BUCKET = 'parley-seats';
