/** What pods tell each other about a room and about themselves: JSON on NATS core. SPEC rules ROS-3 to ROS-14. */
import { Type, type Static } from 'typebox';
import { Generation } from './client-messages.ts';
import { ParticipantId, PodId, RoomId } from './ids.ts';
import { ChatLine, DisplayName, Media } from './people.ts';
import { Left } from './server-messages.ts';

/** Only grows for a pod, over restarts too: `boot` names a process, `epoch` a section that it opened. */
const Epoch = Type.Integer({ minimum: 1 });
const Sequence = Type.Integer({ minimum: 0 });
/** Times between pods are what remains, never clock times. */
const RemainingMs = Type.Integer({ minimum: 0 });

/** A pod's claim on one participant. `awayMs` is there while the person is away: what remains of the grace period. */
export const Entry = Type.Object({
  participant: ParticipantId,
  generation: Generation,
  name: DisplayName,
  media: Media,
  awayMs: Type.Optional(RemainingMs),
});
/** A pod's word that somebody it held is gone for good. */
export const Tombstone = Type.Object({
  participant: ParticipantId,
  generation: Generation,
  reason: Left.properties.reason,
  keepMs: RemainingMs,
});
export const Section = Type.Object({
  pod: PodId,
  boot: Epoch,
  epoch: Epoch,
  seq: Sequence,
  /** Of a pod that is dead: its people are away, and this section is told by others. */
  dead: Type.Boolean(),
  entries: Type.Array(Entry),
  tombstones: Type.Array(Tombstone),
});

const head = { room: RoomId, pod: PodId };

/** Said on the room's subject at 0, 0.25 and 1 s after first interest. */
export const Hello = Type.Object({ type: Type.Literal('hello'), ...head, section: Section });
/** The answer to hello or ask: to the asking pod only. `named` are the pods with a section in the room. */
export const Sections = Type.Object({
  type: Type.Literal('sections'),
  ...head,
  sections: Type.Array(Section),
  named: Type.Array(PodId),
  recoveringMs: RemainingMs,
  chat: Type.Array(ChatLine),
});
/** Exactly one of `put` and `drop`. */
export const Delta = Type.Object({
  type: Type.Literal('delta'),
  ...head,
  epoch: Epoch,
  seq: Sequence,
  put: Type.Optional(Entry),
  drop: Type.Optional(Tombstone),
});
export const Digest = Type.Object({
  type: Type.Literal('digest'),
  ...head,
  epoch: Epoch,
  seq: Sequence,
  hash: Type.Integer({ description: 'FNV-1a of the section, 32 bits.' }),
});
/** To one pod: send me your sections. */
export const Ask = Type.Object({ type: Type.Literal('ask'), ...head });
/** The pod has nobody in the room any more and stops listening; its tombstones stay with the others until they expire. */
export const Bye = Type.Object({ type: Type.Literal('bye'), ...head, epoch: Epoch });
export const RoomChat = Type.Object({ type: Type.Literal('chat'), ...head, line: ChatLine });
export const RoomGone = Type.Object({ type: Type.Literal('room-gone'), ...head });
/** Once a second on the beat subject. A pod that misses three is dead. */
export const Beat = Type.Object({ type: Type.Literal('beat'), pod: PodId, boot: Epoch });
/** The owner of a directed message's reader answers the pod of its sender. */
export const DirectedAnswer = Type.Object({
  type: Type.Literal('directed-answer'),
  pod: PodId,
  ref: Type.Integer({ minimum: 0 }),
  outcome: Type.Union([
    Type.Literal('taken'),
    Type.Literal('unknown'),
    Type.Literal('away'),
    Type.Literal('slow'),
  ]),
});

export const BUS_MESSAGES = {
  hello: Hello,
  sections: Sections,
  delta: Delta,
  digest: Digest,
  ask: Ask,
  bye: Bye,
  chat: RoomChat,
  'room-gone': RoomGone,
  beat: Beat,
  'directed-answer': DirectedAnswer,
} as const;

export type Entry = Static<typeof Entry>;
export type Tombstone = Static<typeof Tombstone>;
export type Section = Static<typeof Section>;
export type Sections = Static<typeof Sections>;
export type Delta = Static<typeof Delta>;
export type Digest = Static<typeof Digest>;
export type DirectedAnswer = Static<typeof DirectedAnswer>;
export type BusMessage =
  | Static<typeof Hello>
  | Sections
  | Delta
  | Digest
  | Static<typeof Ask>
  | Static<typeof Bye>
  | Static<typeof RoomChat>
  | Static<typeof RoomGone>
  | Static<typeof Beat>
  | DirectedAnswer;
