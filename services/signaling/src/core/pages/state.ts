/** The state of pages on one pod: its visitors, the pages that they hold or read, and the sections of other pods. */
import type { PodId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import type { PageSection } from '@parley/protocol/pages-bus';
import type { PageAddress, VisitorId } from '@parley/protocol/pages';
import type { Agenda, Appointment } from '../agenda.ts';
import type { SocketId } from '../socket-id.ts';
import type { Transfers } from '../transfers.ts';
import type { PageEffect } from './effects.ts';
import type { Sources } from './sources.ts';

export interface PagesState {
  readonly pod: PodId;
  readonly boot: number;
  /** The seven symbols in visitor ids that identify this pod. */
  readonly tag: string;
  readonly limits: Limits;
  /** Until then a page that is opened here may miss a holder that is moving from a pod that ended. */
  unsettledUntil: number;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly agenda: Agenda;
  readonly effects: PageEffect[];
  readonly transfers: Transfers;
  /** Milliseconds of a monotonic clock. */
  now: number;
  /** When this pod last received its own heartbeat, and since when it has received all of them. */
  ownHeartbeatAt: number;
  connectedSince: number;
  /** A region is cut off, or was until a moment ago: holders may be there. */
  regionsMissing: boolean;
  /** It is sending its visitors to other pods. */
  draining: boolean;
  /** The number of this pod's visitors that it last published. */
  publishedVisitors: number;
  /** The number of the site's visitors that the visitors here were last sent. */
  sentVisitors: number | undefined;
  sendingVisitors: Appointment | undefined;
  heartbeatSoon: Appointment | undefined;
  /** Pods that were discovered and may know holders, and when they are asked. */
  readonly newcomers: Set<PodId>;
  requesting: Appointment | undefined;
  sectionSeq: number;
  readonly visitors: Map<SocketId, Visitor>;
  readonly byId: Map<VisitorId, Visitor>;
  readonly swarms: Map<PageAddress, Swarm>;
  /** How many pages each network opened. */
  readonly opened: Map<string, number>;
  readonly peers: Map<PodId, Peer>;
  readonly tags: Map<string, PodId>;
}

export interface Visitor {
  readonly socket: SocketId;
  readonly id: VisitorId;
  /** The same for all clients behind one address. */
  readonly network: string;
  readonly memberships: Map<PageAddress, Membership>;
}

/** What a visitor does with a page. */
export interface Membership {
  have: 'none' | 'part' | 'whole';
  /** The candidates that it was given since it last subscribed; `undefined` where it wants none. */
  given: Set<VisitorId> | undefined;
  exclude: ReadonlySet<VisitorId>;
}

export interface Swarm {
  readonly page: PageAddress;
  /** The network of the visitor that opened the page. */
  readonly opener: string;
  /** When the other pods were last asked from the beginning. */
  requestedAt: number;
  /** Visitors of this pod. */
  readonly here: Map<Visitor, Membership>;
  /** Those of them that have the whole page, and those that have a part. */
  readonly wholes: Sources<Visitor>;
  readonly parts: Sources<Visitor>;
  readonly sections: Map<PodId, ReceivedSection>;
  /** Until then a holder may be missing because its pod died. */
  unsettledUntil: number;
  /** The numbers that the visitors here were last sent. */
  sentTotals: Totals | undefined;
  countedAt: number;
  counting: Appointment | undefined;
  /** When the section is published to the other pods. */
  publishing: Appointment | undefined;
  repeating: Appointment | undefined;
  refreshing: Appointment | undefined;
  /** When readers that want more candidates are offered others. */
  offering: Appointment | undefined;
  lingering: Appointment | undefined;
}

export interface Totals {
  readonly holders: number;
  readonly readers: number;
  readonly settled: boolean;
}

/** The last section of another pod. */
export interface ReceivedSection extends Pick<
  PageSection,
  'boot' | 'seq' | 'holders' | 'readers' | 'sample'
> {
  readonly at: number;
}

/** Another pod. */
export interface Peer {
  boot: number;
  lastMessageAt: number;
  visitors: number;
  /** Its visitors are moving to other pods. */
  draining: boolean;
}

export const readersHere = (swarm: Swarm): number => swarm.here.size - swarm.wholes.size;
