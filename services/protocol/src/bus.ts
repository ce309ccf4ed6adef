/** What pods tell each other about a room and about themselves: JSON on NATS core. SPEC rules ROS-3 to ROS-17, MOD-9, MOD-10. */
import { Type, type Static } from 'typebox';
import { Generation } from './client-messages.ts';
import { ParticipantId, PodId, RoomId } from './ids.ts';
import { ChatLine, DisplayName, Media } from './people.ts';
import { RoomView } from './http.ts';
import { Left } from './server-messages.ts';
import { Incarnation, VisitorMarks } from './tokens.ts';

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
  owner: Type.Optional(Type.Boolean()),
  /** At the door of a room with a lobby: not a participant yet. */
  waiting: Type.Optional(Type.Boolean()),
  visitor: Type.Optional(VisitorMarks),
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

/** `identify` changes nothing: whoever knows the participant says by what a ban would recognise it. */
const ModerationAction = Type.Union([
  Type.Literal('identify'),
  Type.Literal('kick'),
  Type.Literal('ban'),
  Type.Literal('ask-to-mute'),
  Type.Literal('admit'),
  Type.Literal('deny'),
]);
export type ModerationAction = Static<typeof ModerationAction>;

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
  /** Those who left and whose resume tokens may not have expired: told by a pod of a room that may be recovering. */
  departures: Type.Optional(Type.Array(Tombstone)),
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
/** One ban of a named room, as pods match it. */
export const BanMarks = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 36 }),
  device: Type.Optional(VisitorMarks.properties.network),
  network: Type.Optional(VisitorMarks.properties.network),
});
/** What the home region's store says of a named room. The highest revision of an incarnation counts. */
export const RoomPolicy = Type.Object({
  revision: Sequence,
  /** A room that was deleted and made again is another one. */
  incarnation: Incarnation,
  view: RoomView,
  bans: Type.Array(BanMarks, { maxItems: 500 }),
  /** Whoever was kicked lately: its resume token is worth nothing. */
  kicked: Type.Array(ParticipantId, { maxItems: 1000 }),
});
/** The owner changed the policy. Said at 0, 0.3 and 1.2 s; pods also read it again after opening the room and after an outage. */
export const Policy = Type.Object({ type: Type.Literal('policy'), ...head, policy: RoomPolicy });
/** The owner wants something done to a participant; whichever pod holds it does it and answers. Said at 0, 0.3 and 1.2 s until answered. */
export const Moderate = Type.Object({
  type: Type.Literal('moderate'),
  ...head,
  ref: Type.Integer({ minimum: 0 }),
  action: ModerationAction,
  participant: ParticipantId,
});
/** To the pod that asked. */
export const Moderated = Type.Object({
  type: Type.Literal('moderated'),
  pod: PodId,
  ref: Type.Integer({ minimum: 0 }),
  outcome: Type.Union([Type.Literal('done'), Type.Literal('full'), Type.Literal('unavailable')]),
  /** Not there where the participant was gone already. */
  name: Type.Optional(DisplayName),
  visitor: Type.Optional(VisitorMarks),
});
/** A room made again under the name has another incarnation, and goes on. */
export const RoomGone = Type.Object({
  type: Type.Literal('room-gone'),
  ...head,
  incarnation: Type.Optional(Incarnation),
});
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
  policy: Policy,
  moderate: Moderate,
  moderated: Moderated,
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
export type RoomPolicy = Static<typeof RoomPolicy>;
export type Policy = Static<typeof Policy>;
export type Moderate = Static<typeof Moderate>;
export type Moderated = Static<typeof Moderated>;
export type BusMessage =
  | Static<typeof Hello>
  | Sections
  | Delta
  | Digest
  | Static<typeof Ask>
  | Static<typeof Bye>
  | Static<typeof RoomChat>
  | Policy
  | Moderate
  | Moderated
  | Static<typeof RoomGone>
  | Static<typeof Beat>
  | DirectedAnswer;
