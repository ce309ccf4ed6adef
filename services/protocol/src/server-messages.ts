/** Messages of a pod on a socket: JSON text messages. Directed messages are in `directed.ts`. */
import { Type, type Static } from 'typebox';
import { CodeName, IceOffer, RegionList, RelayOffer, RoomView, StandbyRelay } from './http.ts';
import { ParticipantId, PodId } from './ids.ts';
import {
  ChatId,
  ChatLine,
  ChatProof,
  CoOwners,
  DisplayName,
  Media,
  Member,
  Mutes,
  ReactionEmoji,
  Waiting,
} from './people.ts';
import type { MessageOf } from './message-of.ts';

export const Welcome = Type.Object({
  type: Type.Literal('welcome'),
  participant: ParticipantId,
  room: RoomView,
  pod: PodId,
  roster: Type.Array(Member, { description: 'All participants of the room, including the reader.' }),
  resume: Type.String({
    description: 'Token with which this client continues as the same participant on any pod.',
  }),
  graceMs: Type.Integer({ minimum: 0 }),
  ...IceOffer.properties,
  owner: Type.Optional(Type.Boolean({ description: 'The reader joined with the owner key.' })),
  lobby: Type.Optional(Type.Array(Waiting, { description: 'Newcomers in the lobby; sent to owners only.' })),
  mutes: Type.Optional(Mutes),
  coOwners: Type.Optional(CoOwners),
  recovering: Type.Boolean({
    description:
      'A resume has opened the room again: participants may not be back yet, and the client keeps those it knew as away.',
  }),
  chat: Type.Array(ChatLine, {
    description: 'After a resume: lines the client may have missed, merged by id.',
  }),
  limits: Type.Object({
    messageBytes: Type.Integer(),
    nameChars: Type.Integer(),
    chatChars: Type.Integer(),
    meshParticipants: Type.Integer(),
  }),
  regions: Type.Optional(RegionList),
  reportEveryMs: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'The pod asks for a `quality` message that often; absent: for none.',
    }),
  ),
});
export const Joined = Type.Object({ type: Type.Literal('joined'), member: Member });
export const Left = Type.Object({
  type: Type.Literal('left'),
  participant: ParticipantId,
  reason: Type.Union([
    Type.Literal('left'),
    Type.Literal('lost'),
    Type.Literal('kicked'),
    Type.Literal('banned'),
    Type.Literal('unreachable'),
  ]),
});
export const Away = Type.Object({ type: Type.Literal('away'), participant: ParticipantId });
/** The participant's region cannot be reached; `back` or `left` follows. Media between the two may still flow. */
export const Unreachable = Type.Object({ type: Type.Literal('unreachable'), participant: ParticipantId });
export const Back = Type.Object({ type: Type.Literal('back'), participant: ParticipantId });
export const Changed = Type.Object({
  type: Type.Literal('changed'),
  participant: ParticipantId,
  name: DisplayName,
  media: Media,
});
export const ChatEvent = Type.Object({ type: Type.Literal('chat'), line: ChatLine });
/** A participant reacts: shown for some seconds, and not stored. SPEC rule REACT-1. */
export const ReactionEvent = Type.Object({
  type: Type.Literal('reaction'),
  from: ParticipantId,
  emoji: ReactionEmoji,
});
/** Has what the other participants received besides the text, so that the sender can send the complete line in `resume`. */
export const ChatAck = Type.Object({
  type: Type.Literal('chat-ack'),
  id: ChatId,
  name: DisplayName,
  at: Type.Integer(),
  proof: ChatProof,
});
/** Replaces the token of the welcome, which expires after `resume.ttl`. */
export const ResumeToken = Type.Object({
  type: Type.Literal('resume-token'),
  resume: Type.String({ description: 'As in the welcome.' }),
});
export const Undelivered = Type.Object({
  type: Type.Literal('undelivered'),
  to: ParticipantId,
  id: Type.String({ description: 'The id that the sender gave the directed message.' }),
  reason: Type.Union([
    Type.Literal('unknown'),
    Type.Literal('away'),
    Type.Literal('timeout'),
    Type.Literal('slow'),
    Type.Literal('unreachable'),
  ]),
});
export const IceAnswer = Type.Object({ type: Type.Literal('ice'), ...IceOffer.properties });
export const RelayAnswer = Type.Object({
  type: Type.Literal('relay'),
  relay: Type.Union([RelayOffer, Type.Null()], {
    description: '`null` where the region has no media relay now; `standby` may name one of another.',
  }),
  standby: Type.Optional(StandbyRelay),
});
export const RoomDeleted = Type.Object({ type: Type.Literal('room-deleted') });
/** Before the welcome: the newcomer waits in the lobby, and the owners were notified. */
export const LobbyWaiting = Type.Object({ type: Type.Literal('lobby-waiting'), room: RoomView });
/** To owners: a newcomer waits in the lobby. */
export const LobbyJoined = Type.Object({ type: Type.Literal('lobby-joined'), waiting: Waiting });
/** To owners: a newcomer does not wait any more: it was admitted or denied, or it left. */
export const LobbyLeft = Type.Object({ type: Type.Literal('lobby-left'), participant: ParticipantId });
/** Before the welcome: many clients are arriving, and this `enter` or `resume` waits for its turn on the open socket. */
export const Wait = Type.Object({
  type: Type.Literal('wait'),
  afterMs: Type.Integer({
    minimum: 0,
    description: 'An estimate of the time until its turn; a new one replaces it.',
  }),
});
/** The owner locked or unlocked the room, or opened or closed its lobby. */
export const RoomChanged = Type.Object({ type: Type.Literal('room-changed'), room: RoomView });
/** The owner asks the reader to mute. The reader decides whether it does. */
export const MuteRequested = Type.Object({ type: Type.Literal('mute-requested') });
/** An owner lowered the reader's hand: what it sends from now on has none. */
export const HandLowered = Type.Object({ type: Type.Literal('hand-lowered') });
/** Whom owners muted now. A reader plays no sound of them, and sends none where it is one of them. Owners are never muted. */
export const MutesChanged = Type.Object({ type: Type.Literal('mutes'), mutes: Mutes });
/** Whom the holder of the owner key made owners, for as long as they are in the call. SPEC rule MOD-16. */
export const CoOwnersChanged = Type.Object({ type: Type.Literal('co-owners'), coOwners: CoOwners });
export const Goaway = Type.Object({
  type: Type.Literal('goaway'),
  afterMs: Type.Integer({ minimum: 0, description: 'Time until this client resumes on another pod.' }),
});
export const Pong = Type.Object({ type: Type.Literal('pong') });
export const ErrorMessage = Type.Object({
  type: Type.Literal('error'),
  code: CodeName,
  message: Type.String(),
  fatal: Type.Boolean({ description: 'The pod closes the socket next, with the close code of the table.' }),
  retryAfterMs: Type.Optional(Type.Integer({ minimum: 0 })),
  ref: Type.Optional(Type.String({ description: 'The id of the refused message, if it had one.' })),
});

export const SERVER_MESSAGES = {
  welcome: Welcome,
  joined: Joined,
  left: Left,
  away: Away,
  unreachable: Unreachable,
  back: Back,
  changed: Changed,
  chat: ChatEvent,
  'chat-ack': ChatAck,
  reaction: ReactionEvent,
  'resume-token': ResumeToken,
  undelivered: Undelivered,
  ice: IceAnswer,
  relay: RelayAnswer,
  'room-deleted': RoomDeleted,
  wait: Wait,
  'lobby-waiting': LobbyWaiting,
  'lobby-joined': LobbyJoined,
  'lobby-left': LobbyLeft,
  'room-changed': RoomChanged,
  'mute-requested': MuteRequested,
  'hand-lowered': HandLowered,
  mutes: MutesChanged,
  'co-owners': CoOwnersChanged,
  goaway: Goaway,
  pong: Pong,
  error: ErrorMessage,
} as const;

export const ServerMessage = Type.Union(Object.values(SERVER_MESSAGES));
export type Welcome = Static<typeof Welcome>;
export type Left = Static<typeof Left>;
export type RelayAnswer = Static<typeof RelayAnswer>;
export type Undelivered = Static<typeof Undelivered>;
export type ErrorMessage = Static<typeof ErrorMessage>;
export type ServerMessage = MessageOf<typeof SERVER_MESSAGES>;
