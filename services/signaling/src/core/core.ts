/** The room core of one pod: one input, then drain the effects. No I/O, no clock, no randomness of its own. */
import type { BusMessage } from '@parley/protocol/bus';
import type { PodId, RoomId } from '@parley/protocol/ids';
import type { Limits } from '@parley/protocol/limits';
import { Agenda } from './agenda.ts';
import { change } from './change.ts';
import { chat, mergeChat } from './chat.ts';
import { direct, onDirectedAnswer, onTransfer } from './directed.ts';
import type { Effect } from './effects.ts';
import type { Input, Join, Resume } from './input.ts';
import { join } from './join.ts';
import { leave, loseSocket } from './leave.ts';
import { resume } from './resume.ts';
import { endRoom } from './room-deleted.ts';
import { answerSections } from './roster/answer.ts';
import { onDigest } from './roster/digest.ts';
import { greetAll } from './roster/greet.ts';
import { hearsItself, notePeer, onBeat, startBeating } from './roster/liveness.ts';
import { closeIfEmpty, onBye, onSections, openRoom } from './roster/open.ts';
import { onDelta, takeSection } from './roster/remote.ts';
import type { Person, Pod, Room } from './state.ts';

export interface CoreOptions {
  readonly pod: PodId;
  /** Larger than in any earlier process of this pod; its start in Unix ms will do. */
  readonly boot: number;
  readonly limits: Limits;
  readonly now: number;
  readonly random: () => number;
}

export interface Core {
  /** Handles one input at a time `now` (ms, never going back) and answers what is to be done, in order. */
  handle(input: Input, now: number): readonly Effect[];
  /** Runs what has come due. */
  wake(now: number): readonly Effect[];
  /** When `wake` is wanted next. */
  nextWake(): number | undefined;
  /** Whether the pod hears its own beats: before that it takes nobody in. */
  ready(): boolean;
  population(room: RoomId): number;
  people(room: RoomId): readonly Person[];
  counts(): { readonly rooms: number; readonly sockets: number; readonly peers: number };
}

/** A process that starts at one ms and the next that starts at another never give a transfer the same number: a million a second. */
const TRANSFERS_PER_BOOT = 1000;

export function createCore({ pod: id, boot, limits, now, random }: CoreOptions): Core {
  const pod: Pod = {
    id,
    boot,
    limits,
    startedAt: now,
    random,
    agenda: new Agenda(),
    effects: [],
    now,
    rooms: new Map(),
    sockets: new Map(),
    waiting: new Map(),
    emptied: new Set(),
    peers: new Map(),
    greeting: undefined,
    greetingUntil: -Infinity,
    ownBeatAt: -Infinity,
    sectionEpoch: boot,
    transferRef: boot * TRANSFERS_PER_BOOT,
    transfers: new Map(),
    taken: new Set(),
    transferSweep: undefined,
  };
  pod.agenda.schedule(now, () => startBeating(pod));

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
    ready: () => hearsItself(pod),
    population: (room) => pod.rooms.get(room)?.people.size ?? 0,
    people: (room) => [...(pod.rooms.get(room)?.people.values() ?? [])],
    counts: () => ({ rooms: pod.rooms.size, sockets: pod.sockets.size, peers: pod.peers.size }),
  };
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
        type: 'tell-room',
        room: input.room,
        message: { type: 'room-gone', room: input.room, pod: pod.id },
      });
      return endRoom(pod, input.room);
    case 'transfer':
      return onTransfer(pod, input.transfer);
    case 'bus':
      return onBus(pod, input.message);
    case 'bus-back':
      greetAll(pod);
      return undefined;
    default:
      return input satisfies never;
  }
}

/** The first arrival opens the room on this pod; arrivals wait until it is known who is there. */
function arrive(pod: Pod, arrival: Join | Resume): void {
  const id = arrival.view.room;
  const room = pod.rooms.get(id) ?? openRoom(pod, arrival.view, (waiting) => arrive(pod, waiting));
  if (room.phase.phase === 'opening') {
    pod.waiting.set(arrival.socket, id);
    room.phase.arrivals.push(arrival);
    return;
  }
  if (arrival.type === 'join') join(pod, room, arrival);
  else resume(pod, room, arrival);
}

function onBus(pod: Pod, message: BusMessage): void {
  if (message.type === 'beat') return onBeat(pod, message.pod, message.boot);
  if (message.pod === pod.id) return undefined;
  if (message.type === 'directed-answer') return onDirectedAnswer(pod, message);
  if (message.type === 'ask') return answerSections(pod, message.room, message.pod);
  notePeer(pod, message.pod, bootIn(message));
  const room = pod.rooms.get(message.room);
  return room === undefined ? undefined : onRoomMessage(pod, room, message);
}

/** The process that speaks, where the message says so; 0 otherwise. */
function bootIn(message: RoomMessage): number {
  if (message.type === 'hello') return message.section.boot;
  if (message.type !== 'sections') return 0;
  return message.sections.find((section) => section.pod === message.pod)?.boot ?? 0;
}

type RoomMessage = Exclude<BusMessage, { type: 'beat' | 'directed-answer' | 'ask' }>;

function onRoomMessage(pod: Pod, room: Room, message: RoomMessage): void {
  switch (message.type) {
    case 'hello':
      takeSection(pod, room, message.section, message.pod);
      return answerSections(pod, message.room, message.pod);
    case 'sections':
      return onSections(pod, room, message, (arrival) => arrive(pod, arrival));
    case 'delta':
      return onDelta(pod, room, message);
    case 'digest':
      return onDigest(pod, room, message);
    case 'bye':
      return onBye(pod, room, message.pod, message.epoch);
    case 'chat':
      return mergeChat(pod, room, [message.line]);
    case 'room-gone':
      return endRoom(pod, message.room);
    default:
      return message satisfies never;
  }
}
