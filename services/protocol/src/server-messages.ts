/** What a pod says on a socket: JSON text messages. Directed messages are in `directed.ts`. */
import { Type, type Static } from 'typebox';
import { CodeName, IceOffer, RelayOffer, RoomView } from './http.ts';
import { ParticipantId, PodId } from './ids.ts';
import { ChatId, ChatLine, ChatProof, DisplayName, Media, Member, Waiting } from './people.ts';

export const Welcome = Type.Object({
  type: Type.Literal('welcome'),
  participant: ParticipantId,
  room: RoomView,
  pod: PodId,
  roster: Type.Array(Member, { description: 'Everyone in the room, the reader included.' }),
  resume: Type.String({ description: 'Token that makes this client the same participant on any pod.' }),
  graceMs: Type.Integer({ minimum: 0 }),
  ...IceOffer.properties,
  owner: Type.Optional(Type.Boolean({ description: 'The reader came with the owner key.' })),
  lobby: Type.Optional(Type.Array(Waiting, { description: 'Who waits at the door; told to owners only.' })),
  recovering: Type.Boolean({
    description:
      'The room was just opened again by a resume: people it knew may not be back yet, keep them as away.',
  }),
  chat: Type.Array(ChatLine, {
    description: 'After a resume: lines the client may have missed, merged by id.',
  }),
  limits: Type.Object({
    messageBytes: Type.Integer(),
    nameChars: Type.Integer(),
    chatChars: Type.Integer(),
    meshMax: Type.Integer(),
  }),
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
  ]),
});
export const Away = Type.Object({ type: Type.Literal('away'), participant: ParticipantId });
export const Back = Type.Object({ type: Type.Literal('back'), participant: ParticipantId });
export const Changed = Type.Object({
  type: Type.Literal('changed'),
  participant: ParticipantId,
  name: DisplayName,
  media: Media,
});
export const ChatEvent = Type.Object({ type: Type.Literal('chat'), line: ChatLine });
/** With what others were shown besides the text, so that the sender can bring the line back. */
export const ChatTaken = Type.Object({
  type: Type.Literal('chat-taken'),
  id: ChatId,
  name: DisplayName,
  at: Type.Integer(),
  proof: ChatProof,
});
/** In place of the token of the welcome, which expires after `resume.ttl`. */
export const ResumeToken = Type.Object({
  type: Type.Literal('resume-token'),
  resume: Type.String({ description: 'As in the welcome.' }),
});
export const Undelivered = Type.Object({
  type: Type.Literal('undelivered'),
  to: ParticipantId,
  id: Type.String({ description: 'The id the sender gave the directed message.' }),
  reason: Type.Union([
    Type.Literal('unknown'),
    Type.Literal('away'),
    Type.Literal('timeout'),
    Type.Literal('slow'),
  ]),
});
export const IceAnswer = Type.Object({ type: Type.Literal('ice'), ...IceOffer.properties });
export const RelayAnswer = Type.Object({
  type: Type.Literal('relay'),
  relay: Type.Union([RelayOffer, Type.Null()], {
    description: '`null` where the region has no media relay now.',
  }),
});
export const RoomDeleted = Type.Object({ type: Type.Literal('room-deleted') });
/** Before the welcome: the room has a lobby, and its owner has been told. */
export const InLobby = Type.Object({ type: Type.Literal('in-lobby'), room: RoomView });
/** To owners: somebody waits. */
export const Knocked = Type.Object({ type: Type.Literal('knocked'), waiting: Waiting });
/** To owners: somebody waits no more, whether admitted, refused or gone. */
export const KnockEnded = Type.Object({ type: Type.Literal('knock-ended'), participant: ParticipantId });
/** The owner locked or unlocked the room, or opened or closed its lobby. */
export const RoomChanged = Type.Object({ type: Type.Literal('room-changed'), room: RoomView });
/** The owner asks the reader to mute. Whether it does is the reader's choice. */
export const MuteAsked = Type.Object({ type: Type.Literal('mute-asked') });
export const GoElsewhere = Type.Object({
  type: Type.Literal('go-elsewhere'),
  afterMs: Type.Integer({ minimum: 0, description: 'The slot of this client: resume on another pod then.' }),
});
export const Pong = Type.Object({ type: Type.Literal('pong') });
export const ErrorMessage = Type.Object({
  type: Type.Literal('error'),
  code: CodeName,
  message: Type.String(),
  fatal: Type.Boolean({ description: 'The socket is closed next, with the close code of the table.' }),
  retryAfterMs: Type.Optional(Type.Integer({ minimum: 0 })),
  ref: Type.Optional(
    Type.String({ description: 'The id of the message that was refused, where it had one.' }),
  ),
});

export const SERVER_MESSAGES = {
  welcome: Welcome,
  joined: Joined,
  left: Left,
  away: Away,
  back: Back,
  changed: Changed,
  chat: ChatEvent,
  'chat-taken': ChatTaken,
  'resume-token': ResumeToken,
  undelivered: Undelivered,
  ice: IceAnswer,
  relay: RelayAnswer,
  'room-deleted': RoomDeleted,
  'in-lobby': InLobby,
  knocked: Knocked,
  'knock-ended': KnockEnded,
  'room-changed': RoomChanged,
  'mute-asked': MuteAsked,
  'go-elsewhere': GoElsewhere,
  pong: Pong,
  error: ErrorMessage,
} as const;

export const ServerMessage = Type.Union(Object.values(SERVER_MESSAGES));
export type Welcome = Static<typeof Welcome>;
export type Left = Static<typeof Left>;
export type Undelivered = Static<typeof Undelivered>;
export type ErrorMessage = Static<typeof ErrorMessage>;
export type ServerMessage =
  | Welcome
  | Static<typeof Joined>
  | Left
  | Static<typeof Away>
  | Static<typeof Back>
  | Static<typeof Changed>
  | Static<typeof ChatEvent>
  | Static<typeof ChatTaken>
  | Static<typeof ResumeToken>
  | Undelivered
  | Static<typeof IceAnswer>
  | Static<typeof RelayAnswer>
  | Static<typeof RoomDeleted>
  | Static<typeof InLobby>
  | Static<typeof Knocked>
  | Static<typeof KnockEnded>
  | Static<typeof RoomChanged>
  | Static<typeof MuteAsked>
  | Static<typeof GoElsewhere>
  | Static<typeof Pong>
  | ErrorMessage;
