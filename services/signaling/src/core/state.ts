/** The state of one pod. Functions in this folder take it as their first argument and push effects. */
import type { Entry, RoomPolicy, Tombstone } from '@parley/protocol/bus';
import type { RoomView } from '@parley/protocol/http';
import { regionIn, type ParticipantId, type PodId, type RegionId, type RoomId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import type { ChatLine, Media } from '@parley/protocol/people';
import type { VisitorMarks } from '@parley/protocol/tokens';
import type { Agenda, Appointment } from './agenda.ts';
import type { Departures } from './departures.ts';
import type { Effect } from './effects.ts';
import type { Join, Resume } from './input.ts';
import type { Person } from './person.ts';
import type { SocketId } from './socket-id.ts';
import type { Transfers } from './transfers.ts';

export interface Pod {
  readonly id: PodId;
  readonly region: RegionId;
  /** Identifies this process: larger than that of any earlier process of the same pod. */
  readonly boot: number;
  readonly limits: Limits;
  readonly startedAt: number;
  /** A number in [0, 1) for jitter. */
  readonly random: () => number;
  readonly agenda: Agenda;
  readonly effects: Effect[];
  /** Milliseconds of a monotonic clock. */
  now: number;
  readonly rooms: Map<RoomId, Room>;
  readonly sockets: Map<SocketId, SocketBinding>;
  /** Sockets of newcomers that wait in a lobby. */
  readonly lobbySockets: Map<SocketId, SocketBinding>;
  /** Sockets whose arrival waits for its room to open, or for a seat. */
  readonly arriving: Map<SocketId, RoomId>;
  /** Rooms that may have no participant of this pod any more; checked at the end of the input. */
  readonly emptied: Set<RoomId>;
  readonly peers: Map<PodId, Peer>;
  /** The other regions from which messages have arrived. */
  readonly regions: Map<RegionId, Region>;
  /** Until then a participant may be in a region that is not cut off any more, and not known here yet. */
  reunitedAt: number;
  /** When a heartbeat last named a region that its pod does not hear. */
  silenceNamedAt: number;
  /** What this pod last published to its pages (effect `regions-missing`). */
  regionsMissing: boolean;
  /** What ends once no region is cut off. */
  readonly held: (() => void)[];
  /** Set while messages to all rooms are due that catch up with the other pods. */
  catchUpSoon: Appointment | undefined;
  /** Until then such messages, or their repetition, are on their way. */
  catchUpUntil: number;
  /** When a heartbeat of another process under this pod's own name last arrived. */
  namesakeAt: number;
  /** When this pod last received its own heartbeat. */
  ownHeartbeatAt: number;
  /** Since when it has received its own heartbeats without a break. */
  connectedAt: number;
  sectionEpoch: number;
  readonly transfers: Transfers;
  readonly departures: Departures;
  /** Owners' requests that no pod has answered yet, by number. */
  readonly requests: Map<
    number,
    { readonly deadline: Appointment; readonly repeats: readonly Appointment[] }
  >;
}

/** The room and participant that a socket belongs to. */
export interface SocketBinding {
  readonly room: RoomId;
  readonly participant: ParticipantId;
}

export interface Peer {
  boot: number;
  /** When its silence began, for judging whether it is dead: time in which this pod itself was disconnected does not count. */
  silentSince: number;
  /** When its last message arrived: later ones may have been missed. */
  lastMessageAt: number;
  dead: boolean;
  /** Its region was cut off, and none of its own messages has arrived since. */
  isUnreachable: boolean;
  /** Since when this process of the pod is known. */
  since: number;
}

export interface Region {
  /** Since when it is known. */
  readonly since: number;
  /** When its silence began; time in which this pod itself was disconnected does not count. */
  silentSince: number;
  /** When each of its pods last published that it receives nothing from this region. */
  readonly deaf: Map<PodId, number>;
  /** Since when it is cut off. */
  cutAt: number | undefined;
}

export interface Room {
  /** As in the newest policy. */
  view: RoomView;
  /** The stored policy of a named room; `undefined` for an ad-hoc room, and where the store could not be read yet. */
  policy: RoomPolicy | undefined;
  /** While the policy is not known: the incarnation of the first token or ticket. */
  incarnation: string | undefined;
  readonly own: OwnSection;
  readonly openedAt: number;
  /** Other pods' sections by pod, then epoch. */
  readonly sections: Map<PodId, Map<number, RemoteSection>>;
  readonly tombstones: Map<ParticipantId, KeptTombstone>;
  /** The merged roster: what the sockets of this pod were notified of. */
  readonly people: Map<ParticipantId, Person>;
  /** Newcomers that wait in the lobby, on any pod; owners are notified of them. */
  readonly lobby: Map<ParticipantId, Person>;
  /** Sockets whose participant waits for a seat of a room with a cap. */
  readonly seating: Map<SocketId, Seating>;
  /** Resumed participants that the roster does not know, by socket: they wait for the policy of the room. */
  readonly unread: Map<SocketId, Resume>;
  /** Participants for whom this pod has taken a seat, or taken it over. */
  readonly seated: Set<ParticipantId>;
  readonly chat: ChatLine[];
  phase: Phase;
  /** Until when participants may be missing because every pod of the room died; otherwise a time in the past. */
  recoveringUntil: number;
  /** Pods that are said to hold participants of the room but have sent nothing themselves: their participants are not known yet. */
  readonly silent: Map<PodId, Appointment>;
  readonly digests: Digests;
  /** Other pods that have the room open, with the latest epoch that their messages named. */
  readonly interested: Map<PodId, number>;
  linger: Appointment | undefined;
  /** The next read of the store. */
  rereading: Appointment | undefined;
  /** Reads that are repeated soon where the store does not answer, since a region is no longer cut off. */
  hastyReads: number;
  readonly relayMutes: RelayMuting;
}

/** What this pod says to media relays. */
export interface RelayMuting {
  /** When it last named a participant of the room as muted; -Infinity: never. */
  mutedAt: number;
  next: { readonly at: number; cancel(): void } | undefined;
}

export interface Seating {
  readonly arrival: Join | Resume;
  /** Set where an owner admits a newcomer from the lobby and waits for the outcome. */
  readonly requester: Requester | undefined;
  /** Set where the socket of a resume closed before the store had decided. */
  readonly isLost?: true;
}

/** Where the outcome of an owner's request is sent. */
export interface Requester {
  readonly pod: PodId;
  readonly ref: number;
}

/** When this pod publishes digests of its section. */
export interface Digests {
  changedAt: number;
  soon: Appointment | undefined;
  later: Appointment | undefined;
  steady: Appointment | undefined;
}

/** A room is opening while this pod requests the sections of the other pods; arrivals wait for them. */
export type Phase =
  | {
      readonly phase: 'opening';
      readonly arrivals: (Join | Resume)[];
      /** Owners' requests for the list of participants. */
      readonly listings: number[];
      /** Live pods that were asked by name. When all have answered, the only participants are those of the pods that were named. */
      readonly asked: ReadonlySet<PodId>;
      readonly answered: Set<PodId>;
      readonly named: Set<PodId>;
      readonly giveUp: Appointment;
    }
  | { readonly phase: 'open' };

export interface OwnSection {
  readonly epoch: number;
  seq: number;
  readonly entries: Map<ParticipantId, OwnEntry>;
}

/** The only place where a participant's socket is known. */
export type OwnEntry = {
  readonly participant: ParticipantId;
  readonly generation: number;
  name: string;
  media: Media;
  readonly owner: boolean;
  readonly visitor: VisitorMarks | undefined;
  /** The generation of the token that it resumed with; `undefined` after a join. */
  readonly tokenGeneration: number | undefined;
  presence:
    | { readonly state: 'here'; readonly socket: SocketId }
    /** In the lobby. */
    | {
        readonly state: 'waiting';
        readonly socket: SocketId;
        readonly arrival: Join;
        readonly until: number;
        readonly expiry: Appointment;
      }
    | { readonly state: 'away'; readonly until: number; readonly expiry: Appointment };
};

/** The strongest tombstone of a participant, from any section: it outlives the section that contained it. */
export interface KeptTombstone {
  readonly generation: number;
  readonly pod: PodId;
  readonly boot: number;
  readonly epoch: number;
  readonly reason: Tombstone['reason'];
  readonly until: number;
}

export interface RemoteSection {
  /** The process that opened it; 0 while nothing but its existence is known. */
  readonly boot: number;
  seq: number;
  /** Its writer died: the participants that it holds are away, and it is kept until none of its entries counts. */
  dead: boolean;
  /** Its writer ended it: a late message does not restore it. */
  ended: boolean;
  /** A dead section is kept at least until then. */
  keepUntil: number;
  readonly entries: Map<ParticipantId, RemoteEntry>;
  /** Set while a request for the whole section is on its way. */
  asked: Appointment | undefined;
}

/** A claim of another pod; `awayUntil` is in this pod's time. */
export type RemoteEntry = Omit<Entry, 'awayMs'> & { readonly awayUntil: number | undefined };

/** The region of a pod, which its id begins with. One without a region is of this region. */
export const regionOf = ({ region }: Pod, id: PodId): RegionId => (id.includes('_') ? regionIn(id) : region);

/** Whether the home region of a room is another one. A pod without a region is of every region. */
export const isFar = ({ region }: Pod, home: RegionId | null): boolean =>
  home !== null && region !== '' && home !== region;

/** The sockets of the room's participants on this pod. */
export function localSockets(room: Room, except?: ParticipantId): SocketId[] {
  const sockets: SocketId[] = [];
  for (const entry of room.own.entries.values()) {
    if (entry.presence.state === 'here' && entry.participant !== except) sockets.push(entry.presence.socket);
  }
  return sockets;
}

/** The sockets of the room's owners on this pod. */
export function ownerSockets(room: Room): SocketId[] {
  const sockets: SocketId[] = [];
  for (const { owner, participant, presence } of room.own.entries.values()) {
    const isOwner = owner || isCoOwner(room, participant);
    if (isOwner && presence.state === 'here') sockets.push(presence.socket);
  }
  return sockets;
}

/** Without the policy it is not known. */
export const isCoOwner = ({ policy }: Room, participant: ParticipantId): boolean =>
  policy?.coOwners?.includes(participant) === true;

export function remoteSectionOf(room: Room, pod: PodId, epoch: number): RemoteSection | undefined {
  return room.sections.get(pod)?.get(epoch);
}

export function keepSection(room: Room, pod: PodId, epoch: number, section: RemoteSection): void {
  const epochs = room.sections.get(pod) ?? new Map<number, RemoteSection>();
  epochs.set(epoch, section);
  room.sections.set(pod, epochs);
}

/** The room and entry that a socket belongs to; `undefined` where a later socket of the same participant has replaced it. */
export function holderOf(pod: Pod, socket: SocketId): { room: Room; entry: OwnEntry } | undefined {
  const binding = pod.sockets.get(socket);
  const room = binding && pod.rooms.get(binding.room);
  const entry = room?.own.entries.get(binding?.participant ?? '');
  if (room === undefined || entry?.presence.state !== 'here' || entry.presence.socket !== socket)
    return undefined;
  return { room, entry };
}
