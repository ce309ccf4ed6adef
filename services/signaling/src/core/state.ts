/** The state of one pod. Functions in this folder take it as their first argument and push effects. */
import type { Entry, RoomPolicy, Tombstone } from '@parley/protocol/bus';
import type { RoomView } from '@parley/protocol/http';
import type { ParticipantId, PodId, RoomId } from '@parley/protocol/ids';
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
  /** Names this process: larger than that of any earlier process of the same pod. */
  readonly boot: number;
  readonly limits: Limits;
  readonly startedAt: number;
  /** A number in [0, 1) for jitter. */
  readonly random: () => number;
  readonly agenda: Agenda;
  readonly effects: Effect[];
  /** Milliseconds of a clock that never goes back. */
  now: number;
  readonly rooms: Map<RoomId, Room>;
  readonly sockets: Map<SocketId, Standing>;
  /** Sockets that wait in a lobby. */
  readonly doors: Map<SocketId, Standing>;
  /** Sockets whose arrival waits for its room to open, or for a seat. */
  readonly waiting: Map<SocketId, RoomId>;
  /** Rooms that may hold nobody of this pod any more; looked at when the input is done. */
  readonly emptied: Set<RoomId>;
  readonly peers: Map<PodId, Peer>;
  /** Set while a greeting to all rooms is due. */
  greeting: Appointment | undefined;
  /** Until then a greeting is on its way, and its repetition. */
  greetingUntil: number;
  /** When this pod last heard its own heartbeat. */
  ownBeatAt: number;
  sectionEpoch: number;
  readonly transfers: Transfers;
  readonly departures: Departures;
  /** What owners asked for and no pod has answered yet, by its number. */
  readonly requests: Map<
    number,
    { readonly deadline: Appointment; readonly repeats: readonly Appointment[] }
  >;
}

/** Which room and person a socket stands for. */
export interface Standing {
  readonly room: RoomId;
  readonly participant: ParticipantId;
}

export interface Peer {
  boot: number;
  /** When its silence began, for judging it: the pod's own silence does not count. */
  beatAt: number;
  /** When it was really heard last: whatever it said since may have been missed. */
  heardAt: number;
  dead: boolean;
  /** Since when this process of it is known. */
  since: number;
}

export interface Room {
  /** As the newest policy has it. */
  view: RoomView;
  /** What the store says of a named room; `undefined` for an ad-hoc one, and where the store could not be read yet. */
  policy: RoomPolicy | undefined;
  readonly own: OwnSection;
  readonly openedAt: number;
  /** Other pods' sections by pod, then epoch. */
  readonly sections: Map<PodId, Map<number, RemoteSection>>;
  readonly gone: Map<ParticipantId, Gone>;
  /** The merged roster: what the sockets of this pod have been told. */
  readonly people: Map<ParticipantId, Person>;
  /** Who waits in the lobby, on any pod: owners are told. */
  readonly atDoor: Map<ParticipantId, Person>;
  /** Sockets whose participant waits for a seat of a room with a cap. */
  readonly seating: Map<SocketId, Seating>;
  readonly chat: ChatLine[];
  phase: Phase;
  /** Until when people may be missing because every pod of the room died; a time in the past otherwise. */
  recoveringUntil: number;
  /** Pods said to hold somebody here that have said nothing themselves: their people are not known yet. */
  readonly silent: Map<PodId, Appointment>;
  readonly digests: Digests;
  linger: Appointment | undefined;
  /** When the store is read again. */
  rereading: Appointment | undefined;
}

export interface Seating {
  readonly arrival: Join | Resume;
  /** Set where an owner admits somebody from the lobby: it wants to know. */
  readonly asked: Asked | undefined;
  /** Set where the socket of a resume closed while the store decides. */
  readonly isLost?: true;
}

/** Who is told the outcome of what an owner asked for. */
export interface Asked {
  readonly pod: PodId;
  readonly ref: number;
}

/** When the others are told what this pod's section should look like. */
export interface Digests {
  changedAt: number;
  soon: Appointment | undefined;
  later: Appointment | undefined;
  steady: Appointment | undefined;
}

/** A room is opening while it asks the other pods who is there; arrivals wait for that. */
export type Phase =
  | {
      readonly phase: 'opening';
      readonly arrivals: (Join | Resume)[];
      /** Requests of owners for the list of participants. */
      readonly listings: number[];
      /** Live pods that were asked by name; when all have answered, nobody is there who was not named. */
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

/** The one place where a participant's socket is known. */
export type OwnEntry = {
  readonly participant: ParticipantId;
  readonly generation: number;
  name: string;
  media: Media;
  readonly owner: boolean;
  readonly visitor: VisitorMarks | undefined;
  /** Of the token that it resumed with; `undefined` for one that joined. */
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

/** The strongest word that somebody left, whoever told it: a tombstone outlives the section it stood in. */
export interface Gone {
  readonly generation: number;
  readonly pod: PodId;
  readonly boot: number;
  readonly epoch: number;
  readonly reason: Tombstone['reason'];
  readonly until: number;
}

export interface RemoteSection {
  /** The process that opened it; 0 while only its existence is known. */
  readonly boot: number;
  seq: number;
  /** Its writer is gone: whoever it holds is away, and it is kept until nothing of it counts. */
  dead: boolean;
  /** Its writer itself ended it: a late message does not bring it back. */
  ended: boolean;
  /** A dead section is kept at least until then. */
  keepUntil: number;
  readonly entries: Map<ParticipantId, RemoteEntry>;
  /** Set while a question for the whole section is on its way. */
  asked: Appointment | undefined;
}

/** Another pod's claim; `awayUntil` is in this pod's own time. */
export type RemoteEntry = Omit<Entry, 'awayMs'> & { readonly awayUntil: number | undefined };

/** Sockets of the room's people that this pod holds. */
export function localSockets(room: Room, except?: ParticipantId): SocketId[] {
  const sockets: SocketId[] = [];
  for (const entry of room.own.entries.values()) {
    if (entry.presence.state === 'here' && entry.participant !== except) sockets.push(entry.presence.socket);
  }
  return sockets;
}

/** Sockets of the room's owners that this pod holds. */
export function ownerSockets(room: Room): SocketId[] {
  const sockets: SocketId[] = [];
  for (const { owner, presence } of room.own.entries.values()) {
    if (owner && presence.state === 'here') sockets.push(presence.socket);
  }
  return sockets;
}

export function remoteSectionOf(room: Room, pod: PodId, epoch: number): RemoteSection | undefined {
  return room.sections.get(pod)?.get(epoch);
}

export function keepSection(room: Room, pod: PodId, epoch: number, section: RemoteSection): void {
  const epochs = room.sections.get(pod) ?? new Map<number, RemoteSection>();
  epochs.set(epoch, section);
  room.sections.set(pod, epochs);
}

/** The room and entry a socket stands for; none where a later socket of the same person has taken over. */
export function holderOf(pod: Pod, socket: SocketId): { room: Room; entry: OwnEntry } | undefined {
  const standing = pod.sockets.get(socket);
  const room = standing && pod.rooms.get(standing.room);
  const entry = room?.own.entries.get(standing?.participant ?? '');
  if (room === undefined || entry?.presence.state !== 'here' || entry.presence.socket !== socket)
    return undefined;
  return { room, entry };
}
