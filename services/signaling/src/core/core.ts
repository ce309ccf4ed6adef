/** The core of rooms of one pod: handles one input, then drains the effects. It has no I/O, clock or randomness of its own. */
import type { RoomView } from '@parley/protocol/http';
import type { ParticipantId, PodId, RoomId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import { Agenda } from './agenda.ts';
import { arrive, openFor } from './arrive.ts';
import { onBus } from './bus-message.ts';
import { change } from './change.ts';
import { chat } from './chat.ts';
import { Departures } from './departures.ts';
import { direct, onTransfer, undelivered } from './directed.ts';
import type { Effect } from './effects.ts';
import type { Input } from './input.ts';
import { leave, loseSocket } from './leave.ts';
import { moderate } from './moderation.ts';
import { listParticipants } from './participants.ts';
import type { Person } from './person.ts';
import { onPolicy, onPolicyUnread, rereadPolicies, publishPolicy } from './policy.ts';
import type { Seat } from './ports.ts';
import { endIncarnation, endRoom } from './room-deleted.ts';
import { catchUp } from './roster/catch-up.ts';
import { receivesOwnHeartbeat, connectedPeers, startHeartbeats } from './roster/liveness.ts';
import { strongestClaim } from './roster/merge.ts';
import { closeIfEmpty } from './roster/open.ts';
import { isAbandoned, onSeat } from './seating.ts';
import type { SocketId } from './socket-id.ts';
import { holderOf, type Pod } from './state.ts';
import { Transfers } from './transfers.ts';

export interface CoreOptions {
  readonly pod: PodId;
  /** Larger than in any earlier process of this pod, for example its start in Unix ms. */
  readonly boot: number;
  readonly limits: Limits;
  readonly now: number;
  readonly random: () => number;
}

export interface Core {
  /** Handles one input at a time `now` (ms, monotonic) and returns the effects, in order. */
  handle(input: Input, now: number): readonly Effect[];
  /** Runs the scheduled actions that are due. */
  wake(now: number): readonly Effect[];
  /** When `wake` must be called next. */
  nextWake(): number | undefined;
  /** Whether the pod receives its own heartbeats: before that it admits no participant. */
  ready(): boolean;
  population(room: RoomId): number;
  people(room: RoomId): readonly Person[];
  /** Whether this pod knows the participant of the room, also one that left. A ticket of such a participant is used. */
  isKnown(room: RoomId, participant: ParticipantId): boolean;
  /** The participant of this socket; `undefined` before the welcome and after another socket replaced it. */
  holder(socket: SocketId): Pick<Person, 'participant' | 'name'> | undefined;
  /** The view of a room that is open here; also `undefined` where the policy of a named room could not be read. */
  view(room: RoomId): RoomView | undefined;
  /** Whether no participant can resume into this seat any more. */
  isAbandoned(room: RoomId, seat: Seat): boolean;
  /** `peers`: pods whose messages arrive now, including those of connected regions, as a heartbeat names no region. */
  counts(): { readonly rooms: number; readonly sockets: number; readonly peers: number };
}

export function createCore(options: CoreOptions): Core {
  const pod = createPod(options);
  pod.agenda.schedule(options.now, () => startHeartbeats(pod));

  const drain = (): readonly Effect[] => {
    for (const id of pod.emptied) closeIfEmpty(pod, id);
    pod.emptied.clear();
    return pod.effects.splice(0);
  };
  return {
    handle(input, time) {
      pod.now = Math.max(pod.now, time);
      handle(pod, input);
      return drain();
    },
    wake(time) {
      pod.now = Math.max(pod.now, time);
      pod.agenda.runDue(pod.now);
      return drain();
    },
    nextWake: () => pod.agenda.next(),
    ready: () => receivesOwnHeartbeat(pod),
    population: (room) => pod.rooms.get(room)?.people.size ?? 0,
    people: (room) => [...(pod.rooms.get(room)?.people.values() ?? [])],
    isKnown(id, participant) {
      const room = pod.rooms.get(id);
      return room !== undefined && strongestClaim(pod, room, participant) !== undefined;
    },
    holder: (socket) => holderOf(pod, socket)?.entry,
    view: (id) => {
      const room = pod.rooms.get(id);
      const isUnread = room?.view.kind === 'named' && room.policy === undefined;
      return isUnread ? undefined : room?.view;
    },
    isAbandoned(id, seat) {
      const room = pod.rooms.get(id);
      return room !== undefined && isAbandoned(pod, room, seat);
    },
    counts: () => ({ rooms: pod.rooms.size, sockets: pod.sockets.size, peers: connectedPeers(pod) }),
  };
}

function createPod({ pod: id, boot, limits, now, random }: CoreOptions): Pod {
  const agenda = new Agenda();
  const pod: Pod = {
    id,
    boot,
    limits,
    startedAt: now,
    random,
    agenda,
    effects: [],
    now,
    rooms: new Map(),
    sockets: new Map(),
    lobbySockets: new Map(),
    arriving: new Map(),
    emptied: new Set(),
    peers: new Map(),
    catchUpSoon: undefined,
    catchUpUntil: -Infinity,
    ownHeartbeatAt: -Infinity,
    connectedAt: now,
    sectionEpoch: boot,
    transfers: new Transfers({
      boot,
      limits,
      agenda,
      onGivenUp: (pending) => undelivered(pod, pending.socket, pending, 'timeout'),
    }),
    departures: new Departures({ ttlMs: limits['resume.ttl'], max: limits['pod.departures'] }),
    requests: new Map(),
  };
  return pod;
}

function handle(pod: Pod, input: Input): void {
  switch (input.type) {
    case 'join':
    case 'resume':
      return arrive(pod, input);
    case 'leave':
      return leave(pod, input.socket);
    case 'lost':
      return loseSocket(pod, input.socket);
    case 'change':
      return change(pod, input);
    case 'chat':
      return chat(pod, input);
    case 'directed':
      return direct(pod, input);
    case 'room-deleted':
      pod.effects.push({
        type: 'publish-room',
        room: input.room,
        message: { type: 'room-deleted', room: input.room, pod: pod.id, incarnation: input.incarnation },
      });
      return endIncarnation(pod, input.room, input.incarnation);
    case 'room-missing':
      return endRoom(pod, input.room);
    case 'policy':
      if (input.notify) publishPolicy(pod, input.policy);
      return onPolicy(pod, input.policy.view.room, input.policy);
    case 'policy-unread':
      return onPolicyUnread(pod, input.room);
    case 'moderate':
      return moderate(pod, input);
    case 'list':
      return listParticipants(pod, pod.rooms.get(input.view.room) ?? openFor(pod, input), input);
    case 'seat':
      return onSeat(pod, input);
    case 'transfer':
      return onTransfer(pod, input.transfer);
    case 'bus':
      return onBus(pod, input.message);
    case 'bus-back':
      catchUp(pod);
      return rereadPolicies(pod);
    default:
      return input satisfies never;
  }
}
