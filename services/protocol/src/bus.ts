/** Messages between pods about rooms and about themselves: JSON on core NATS. SPEC rules ROS-3 to ROS-17, MOD-9, MOD-10. */
import { Type, type Static } from 'typebox';
import { Generation } from './client-messages.ts';
import { ParticipantId, PodId, RegionId, RoomId } from './ids.ts';
import { ChatLine, CoOwners, DisplayName, Media, Mutes, ReactionEmoji } from './people.ts';
import { RoomView } from './http.ts';
import { Incarnation, VisitorMarks } from './tokens.ts';
import type { MessageOf } from './message-of.ts';

/** Grows for a pod, also over restarts: `boot` names a process, `epoch` a section that it opened. */
const Epoch = Type.Integer({ minimum: 1 });
const Sequence = Type.Integer({ minimum: 0 });
/** Times between pods are remaining durations, never clock times. */
const RemainingMs = Type.Integer({ minimum: 0 });

/** A pod's claim on one participant. `awayMs` is present while the participant is away: the rest of the grace period. */
export const Entry = Type.Object({
  participant: ParticipantId,
  generation: Generation,
  name: DisplayName,
  media: Media,
  awayMs: Type.Optional(RemainingMs),
  owner: Type.Optional(Type.Boolean()),
  /** Waits in the lobby: not a participant yet. */
  waiting: Type.Optional(Type.Boolean()),
  visitor: Type.Optional(VisitorMarks),
});
/** Records that a participant of the pod left for good. */
export const Tombstone = Type.Object({
  participant: ParticipantId,
  generation: Generation,
  reason: Type.Union([
    Type.Literal('left'),
    Type.Literal('lost'),
    Type.Literal('kicked'),
    Type.Literal('banned'),
  ]),
  keepMs: RemainingMs,
});
export const Section = Type.Object({
  pod: PodId,
  boot: Epoch,
  epoch: Epoch,
  seq: Sequence,
  /** The pod is dead: its participants are `away`, and other pods send this section. */
  dead: Type.Boolean(),
  entries: Type.Array(Entry),
  tombstones: Type.Array(Tombstone),
});

/** `identify` changes nothing: a pod that knows the participant answers with the marks that a ban matches. */
const ModerationAction = Type.Union([
  Type.Literal('identify'),
  Type.Literal('kick'),
  Type.Literal('ban'),
  Type.Literal('request-mute'),
  Type.Literal('lower-hand'),
  Type.Literal('admit'),
  Type.Literal('deny'),
]);
export type ModerationAction = Static<typeof ModerationAction>;

const head = { room: RoomId, pod: PodId };

/** Published on the room's subject 0, 0.25 and 1 s after the pod's first interest. */
export const Hello = Type.Object({ type: Type.Literal('hello'), ...head, section: Section });
/** The answer to `hello` or `sections-request`, to the requesting pod only. `named` lists the pods with a section in the room. */
export const Sections = Type.Object({
  type: Type.Literal('sections'),
  ...head,
  sections: Type.Array(Section),
  named: Type.Array(PodId),
  recoveringMs: RemainingMs,
  chat: Type.Array(ChatLine),
  /** Participants that left and whose resume tokens may not have expired; sent where the room may be recovering. */
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
/** To one pod: asks for its sections. */
export const SectionsRequest = Type.Object({ type: Type.Literal('sections-request'), ...head });
/** The pod has no participant in the room any more and unsubscribes; the other pods keep its tombstones until they expire. */
export const Bye = Type.Object({ type: Type.Literal('bye'), ...head, epoch: Epoch });
export const RoomChat = Type.Object({ type: Type.Literal('chat'), ...head, line: ChatLine });
/** A participant of this pod reacts. Published once: a reaction that is lost is not repeated. SPEC rule REACT-2. */
export const RoomReaction = Type.Object({
  type: Type.Literal('reaction'),
  ...head,
  from: ParticipantId,
  emoji: ReactionEmoji,
});
/** One ban of a named room, as pods match it. */
export const BanMarks = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 36 }),
  device: Type.Optional(VisitorMarks.properties.network),
  network: Type.Optional(VisitorMarks.properties.network),
});
/** The record of a named room in its home region's store. The highest revision of an incarnation counts. */
export const RoomPolicy = Type.Object({
  revision: Sequence,
  /** A room that was deleted and created again has another incarnation, and one whose call was ended another one of the same room (MOD-13). */
  incarnation: Incarnation,
  view: RoomView,
  bans: Type.Array(BanMarks, { maxItems: 500 }),
  /** Participants that were kicked: their resume tokens are refused. */
  kicked: Type.Array(ParticipantId, { maxItems: 1000 }),
  /** Their devices, which wait for an owner as in a lobby (MOD-1). Absent where there are none, and in those of pods that let them enter. */
  knocking: Type.Optional(Type.Array(VisitorMarks.properties.network, { maxItems: 1000 })),
  /** Absent in those of pods that know no mutes: no participant is muted. */
  mutes: Type.Optional(Mutes),
  /** Absent in those of pods that know no co-owners. */
  coOwners: Type.Optional(CoOwners),
});
/** The owner changed the policy. Published at 0, 0.3 and 1.2 s; pods also read it again after they open the room and after an outage. */
export const Policy = Type.Object({ type: Type.Literal('policy'), ...head, policy: RoomPolicy });
/** An owner's request about a participant; the pod that holds the participant acts and answers. Published at 0, 0.3 and 1.2 s until answered. */
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
  /** Absent where the participant had left already. */
  name: Type.Optional(DisplayName),
  visitor: Type.Optional(VisitorMarks),
});
/** The owner deleted the room. A room that was created again under the name has another incarnation, and goes on. */
export const RoomDeleted = Type.Object({
  type: Type.Literal('room-deleted'),
  ...head,
  incarnation: Type.Optional(Incarnation),
});
/** Published once a second on the heartbeat subject. A pod that misses three is dead. */
export const Heartbeat = Type.Object({
  type: Type.Literal('heartbeat'),
  pod: PodId,
  boot: Epoch,
  /** Other regions from which the pod receives nothing. */
  silent: Type.Optional(Type.Array(RegionId)),
});
/** The pod of a directed message's recipient reports the outcome to the pod of its sender. */
export const DirectedAck = Type.Object({
  type: Type.Literal('directed-ack'),
  pod: PodId,
  ref: Type.Integer({ minimum: 0 }),
  outcome: Type.Union([
    Type.Literal('accepted'),
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
  'sections-request': SectionsRequest,
  bye: Bye,
  chat: RoomChat,
  reaction: RoomReaction,
  policy: Policy,
  moderate: Moderate,
  moderated: Moderated,
  'room-deleted': RoomDeleted,
  heartbeat: Heartbeat,
  'directed-ack': DirectedAck,
} as const;

export type Entry = Static<typeof Entry>;
export type Tombstone = Static<typeof Tombstone>;
export type Section = Static<typeof Section>;
export type Sections = Static<typeof Sections>;
export type Delta = Static<typeof Delta>;
export type Digest = Static<typeof Digest>;
export type Heartbeat = Static<typeof Heartbeat>;
export type DirectedAck = Static<typeof DirectedAck>;
export type RoomPolicy = Static<typeof RoomPolicy>;
export type Policy = Static<typeof Policy>;
export type Moderate = Static<typeof Moderate>;
export type Moderated = Static<typeof Moderated>;
export type BusMessage = MessageOf<typeof BUS_MESSAGES>;
