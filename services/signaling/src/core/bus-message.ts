/** Messages of other pods, each to the module that handles it. */
import type { BusMessage } from '@parley/protocol/bus';
import { arrive } from './arrive.ts';
import { mergeChat } from './chat.ts';
import { onDirectedAck } from './directed.ts';
import { onModerate, onModerated } from './moderation.ts';
import { takePolicy } from './policy.ts';
import { onReaction } from './reaction.ts';
import { endIncarnation } from './room-deleted.ts';
import { answerSections } from './roster/answer.ts';
import { onDigest } from './roster/digest.ts';
import { noteInterest } from './roster/interest.ts';
import { notePeer, onHeartbeat } from './roster/liveness.ts';
import { onBye, onSections } from './roster/open.ts';
import { noteRegion } from './roster/regions.ts';
import { onDelta, takeSection } from './roster/remote.ts';
import type { Pod, Room } from './state.ts';

export function onBus(pod: Pod, message: BusMessage): void {
  if (message.type === 'heartbeat') return onHeartbeat(pod, message);
  noteRegion(pod, message.pod);
  if (message.pod === pod.id) return undefined;
  if (message.type === 'directed-ack') return onDirectedAck(pod, message);
  if (message.type === 'moderated') return onModerated(pod, message);
  const room = pod.rooms.get(message.room);
  if (message.type === 'sections-request') {
    if (room !== undefined) noteInterest(pod, room, message.pod, 0);
    return answerSections(pod, message.room, message.pod);
  }
  notePeer(pod, message.pod, bootIn(message));
  return room === undefined ? undefined : onRoomMessage(pod, room, message);
}

/** The `boot` of the sender, where the message has it; 0 otherwise. */
function bootIn(message: RoomMessage): number {
  if (message.type === 'hello') return message.section.boot;
  if (message.type !== 'sections') return 0;
  return message.sections.find((section) => section.pod === message.pod)?.boot ?? 0;
}

type RoomMessage = Exclude<
  BusMessage,
  { type: 'heartbeat' | 'directed-ack' | 'moderated' | 'sections-request' }
>;

/** The epoch of the sender's section, 0 where the message names none; `undefined` where it does not show that the sender has the room open. */
function epochIn(message: RoomMessage): number | undefined {
  switch (message.type) {
    case 'hello':
      return message.section.epoch;
    case 'sections':
      return message.sections.find((section) => section.pod === message.pod)?.epoch;
    case 'delta':
    case 'digest':
      return message.epoch;
    case 'chat':
      return 0;
    default:
      return undefined;
  }
}

function onRoomMessage(pod: Pod, room: Room, message: RoomMessage): void {
  const epoch = epochIn(message);
  if (epoch !== undefined) noteInterest(pod, room, message.pod, epoch);
  switch (message.type) {
    case 'hello':
      takeSection(pod, room, message.section, message.pod);
      return answerSections(pod, message.room, message.pod, message.section.entries);
    case 'sections':
      return onSections(pod, room, message, (arrival) => arrive(pod, arrival));
    case 'delta':
      return onDelta(pod, room, message);
    case 'digest':
      return onDigest(pod, room, message);
    case 'bye':
      return onBye(pod, room, message.pod, message.epoch);
    case 'reaction':
      return onReaction(pod, room, message);
    case 'chat':
      return mergeChat(pod, room, [message.line]);
    case 'policy':
      return takePolicy(pod, room, message.policy);
    case 'moderate':
      return onModerate(pod, room, message);
    case 'room-deleted':
      return endIncarnation(pod, message.room, message.incarnation);
    default:
      return message satisfies never;
  }
}
