/** The state of pages on one pod: its visitors, the pages they hold or want, and what other pods say of those. */
import type { PodId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import type { PageSection } from '@parley/protocol/pages-bus';
import type { PageAddress, VisitorId } from '@parley/protocol/pages';
import type { Agenda, Appointment } from '../agenda.ts';
import type { SocketId } from '../socket-id.ts';
import type { Transfers } from '../transfers.ts';
import type { PageEffect } from './effects.ts';
import type { Givers } from './givers.ts';

export interface Desk {
  readonly pod: PodId;
  readonly boot: number;
  /** Seven symbols by which the ids of this pod's visitors name it. */
  readonly tag: string;
  readonly limits: Limits;
  /** Until then a page that is opened here may miss a holder, who is on the way from a pod that ended. */
  unsettledUntil: number;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly agenda: Agenda;
  readonly effects: PageEffect[];
  readonly transfers: Transfers;
  /** Milliseconds of a clock that never goes back. */
  now: number;
  /** When this pod last heard its own heartbeat, and since when it has heard them all. */
  ownBeatAt: number;
  hearingSince: number;
  /** It is sending its visitors to other pods. */
  draining: boolean;
  /** Visitors of this pod as the other pods know it. */
  saidVisitors: number;
  /** Visitors of the site as all its visitors here know it. */
  toldVisitors: number | undefined;
  telling: Appointment | undefined;
  beatingSoon: Appointment | undefined;
  /** Pods that turned up and may know of holders, and when they are asked. */
  readonly newcomers: Set<PodId>;
  asking: Appointment | undefined;
  sectionSeq: number;
  readonly visitors: Map<SocketId, Visitor>;
  readonly byId: Map<VisitorId, Visitor>;
  readonly swarms: Map<PageAddress, Swarm>;
  /** How many of them each network opened. */
  readonly opened: Map<string, number>;
  readonly peers: Map<PodId, Peer>;
  readonly tags: Map<string, PodId>;
}

export interface Visitor {
  readonly socket: SocketId;
  readonly id: VisitorId;
  /** The same for everyone behind one address. */
  readonly network: string;
  readonly stakes: Map<PageAddress, Stake>;
}

/** What somebody has to do with a page. */
export interface Stake {
  have: 'none' | 'part' | 'whole';
  /** Whom they were given since they last asked; `undefined`: they want nobody. */
  given: Set<VisitorId> | undefined;
  exclude: ReadonlySet<VisitorId>;
}

export interface Swarm {
  readonly page: PageAddress;
  /** Of whoever came first. */
  readonly opener: string;
  /** When the other pods were asked last, from the beginning. */
  askedAt: number;
  /** Visitors of this pod. */
  readonly here: Map<Visitor, Stake>;
  /** Those of them that have the whole page, and those that have some of it. */
  readonly wholes: Givers<Visitor>;
  readonly parts: Givers<Visitor>;
  readonly sections: Map<PodId, Heard>;
  /** Until then a holder may be missing because its pod died. */
  unsettledUntil: number;
  /** What the visitors here were told last. */
  told: Totals | undefined;
  countedAt: number;
  counting: Appointment | undefined;
  /** The other pods are to be told. */
  saying: Appointment | undefined;
  repeating: Appointment | undefined;
  refreshing: Appointment | undefined;
  /** Those who want more than they were given are to be told of others. */
  offering: Appointment | undefined;
  lingering: Appointment | undefined;
}

export interface Totals {
  readonly holders: number;
  readonly readers: number;
  readonly settled: boolean;
}

/** What another pod said last. */
export interface Heard extends Pick<PageSection, 'boot' | 'seq' | 'holders' | 'readers' | 'sample'> {
  readonly at: number;
}

/** Another pod. */
export interface Peer {
  boot: number;
  heardAt: number;
  visitors: number;
  /** Its visitors are on their way to other pods. */
  draining: boolean;
}

export const readersHere = (swarm: Swarm): number => swarm.here.size - swarm.wholes.size;
