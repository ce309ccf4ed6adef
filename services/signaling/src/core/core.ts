/** The core of rooms of one pod: handles one input, then drains the effects. It has no I/O, clock or randomness of its own. */
import type { RoomView } from '@parley/protocol/http';
import type { ParticipantId, PodId, RegionId, RoomId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import { Agenda } from './agenda.ts';
import { arrive, arriveUnread, openFor } from './arrive.ts';
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
import type { Seat, SeatPlan } from './ports.ts';
import { react } from './reaction.ts';
import { endIncarnation, endRoom } from './room-deleted.ts';
import { catchUp } from './roster/catch-up.ts';
import { receivesOwnHeartbeat, connectedPeers, hasNamesake, startHeartbeats } from './roster/liveness.ts';
import { strongestClaim } from './roster/merge.ts';
import { closeIfEmpty } from './roster/open.ts';
import { isAbandoned, mayLive, onSeat, onSeatRefused, seatRestMs } from './seating.ts';
import type { SocketId } from './socket-id.ts';
import { holderOf, regionOf, type Pod } from './state.ts';
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
  /** Whether the pod receives its own heartbeats, and no other process has its name: before that it admits no participant. */
  ready(): boolean;
  /** Whether another process publishes under the name of this pod. */
  hasNamesake(): boolean;
  population(room: RoomId): number;
  people(room: RoomId): readonly Person[];
  /** The participants of the room that its relays in this region serve: those of this region, without its lobby. */
  served(room: RoomId): readonly ParticipantId[];
  /** Whether this pod knows the participant of the room, also one that left. A ticket of such a participant is used. */
  isKnown(room: RoomId, participant: ParticipantId): boolean;
  /** The participant of this socket; `undefined` before the welcome and after another socket replaced it. */
  holder(socket: SocketId): Pick<Person, 'participant' | 'generation' | 'name'> | undefined;
  /** The view of a room that is open here; also `undefined` where the policy of a named room could not be read. */
  view(room: RoomId): RoomView | undefined;
  /** Whether no participant can resume into this seat any more. */
  isAbandoned(room: RoomId, seat: Seat): boolean;
  /** How long a seat of the room that was freed is given to no other participant, in ms. */
  seatRestMs(plan: SeatPlan): number;
  /** Whether the process that holds the seat lives, or may live. */
  mayLive(seat: Seat): boolean;
  /** Whether messages of another region arrive. */
  reaches(region: RegionId): boolean;
  /** The other regions that are known, also those that are cut off. */
  others(): readonly RegionId[];
  /** `peers`: other pods of the region whose messages arrive now; `peersBeyond`: those of each other region, 0 where none arrive. */
  counts(): {
    readonly rooms: number;
    readonly sockets: number;
    readonly peers: number;
    readonly peersBeyond: ReadonlyMap<RegionId, number>;
  };
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
    ready: () => receivesOwnHeartbeat(pod) && !hasNamesake(pod),
    hasNamesake: () => hasNamesake(pod),
    population: (room) => pod.rooms.get(room)?.people.size ?? 0,
    people: (room) => [...(pod.rooms.get(room)?.people.values() ?? [])],
    served(id) {
      const people = [...(pod.rooms.get(id)?.people.values() ?? [])];
      const isServed = (person: Person): boolean =>
        person.state !== 'waiting' && regionOf(pod, person.pod) === pod.region;
      return people.filter(isServed).map(({ participant }) => participant);
    },
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
    seatRestMs: (plan) => seatRestMs(pod, plan),
    mayLive: (seat) => mayLive(pod, seat),
    reaches: (region) => pod.regions.get(region)?.cutAt === undefined && pod.regions.has(region),
    others: () => [...pod.regions.keys()],
    counts: () => ({ rooms: pod.rooms.size, sockets: pod.sockets.size, ...connectedPeers(pod) }),
  };
}

function createPod({ pod: id, boot, limits, now, random }: CoreOptions): Pod {
  const agenda = new Agenda();
  const pod: Pod = {
    id,
    region: id.slice(0, Math.max(0, id.indexOf('_'))),
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
    regions: new Map(),
    reunitedAt: -Infinity,
    silenceNamedAt: -Infinity,
    regionsMissing: false,
    held: [],
    catchUpSoon: undefined,
    catchUpUntil: -Infinity,
    namesakeAt: -Infinity,
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
      return loseSocket(pod, input.socket, input.isUnloaded === true);
    case 'change':
      return change(pod, input);
    case 'chat':
      return chat(pod, input);
    case 'reaction':
      return react(pod, input);
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
      onPolicy(pod, input.policy.view.room, input.policy);
      return arriveUnread(pod, input.policy.view.room);
    case 'policy-unread':
      onPolicyUnread(pod, input.room);
      return arriveUnread(pod, input.room);
    case 'moderate':
      return moderate(pod, input);
    case 'list':
      return listParticipants(pod, pod.rooms.get(input.view.room) ?? openFor(pod, input), input);
    case 'seat':
      return onSeat(pod, input);
    case 'seat-refused':
      return onSeatRefused(pod, input);
    case 'transfer':
      return onTransfer(pod, input.transfer);
    case 'bus':
      return onBus(pod, input.message);
    case 'homes-changed':
      return rereadPolicies(pod);
    case 'bus-back':
      catchUp(pod);
      return rereadPolicies(pod);
    default:
      return input satisfies never;
  }
}
