/** Messages of a client on its socket: JSON text messages. Directed messages are in `directed.ts`. */
import { Type, type Static } from 'typebox';
import { Exclude } from './media.ts';
import { ResumeChatLine, ChatId, ChatText, DisplayName, Media, ReactionEmoji } from './people.ts';
import type { MessageOf } from './message-of.ts';

/** Raised by the client at every connection attempt: it orders the claims of two pods on one participant. */
export const Generation = Type.Integer({ minimum: 1, maximum: 2 ** 31 });

export const Enter = Type.Object({
  type: Type.Literal('enter'),
  ticket: Type.String({ maxLength: 2048 }),
  generation: Generation,
  name: DisplayName,
  media: Media,
  elapsedMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 600_000,
      description: 'Since the client began to join. SPEC rule TRACE-3.',
    }),
  ),
});
export const Resume = Type.Object({
  type: Type.Literal('resume'),
  token: Type.String({ maxLength: 2048 }),
  generation: Generation,
  name: DisplayName,
  media: Media,
  chat: Type.Array(ResumeChatLine, {
    maxItems: 20,
    description: 'The last lines the client has, so that a room whose pods all died gets them back.',
  }),
});
export const Change = Type.Object({
  type: Type.Literal('change'),
  name: Type.Optional(DisplayName),
  media: Type.Optional(Media),
});
export const Chat = Type.Object({ type: Type.Literal('chat'), id: ChatId, text: ChatText });
/** Shown to those who are in the room now, and not stored. SPEC rule REACT-1. */
export const Reaction = Type.Object({ type: Type.Literal('reaction'), emoji: ReactionEmoji });
export const Leave = Type.Object({ type: Type.Literal('leave') });
export const Ping = Type.Object({ type: Type.Literal('ping') });
export const IceRequest = Type.Object({ type: Type.Literal('ice') });

/** Asks for a media relay and a fresh token for it. */
export const RelayRequest = Type.Object({ type: Type.Literal('relay'), exclude: Exclude });

/** How the media reached this participant since its last report, for operators. An unknown figure is absent. SPEC rules QUAL-1 to QUAL-4. */
export const Quality = Type.Object({
  type: Type.Literal('quality'),
  path: Type.Union([Type.Literal('mesh'), Type.Literal('turn'), Type.Literal('relay')], {
    description:
      'How voices arrived: `turn` where any came through a TURN server, `relay` where any came through a relay.',
  }),
  setupMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 600_000,
      description:
        'From the join, the end of a wait, or the arrival of another participant, to the first media; sent once.',
    }),
  ),
  roundTripMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 60_000,
      description: 'To those whose voices arrived, or to the relay.',
    }),
  ),
  lossPermille: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1000, description: 'Of packets of voices.' }),
  ),
  bufferMs: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 60_000, description: 'Delay of the jitter buffer of voices.' }),
  ),
  freezes: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 300, description: 'Times that a picture stood still.' }),
  ),
  reconnects: Type.Integer({
    minimum: 0,
    maximum: 100,
    description: 'Times that the socket was resumed since the last report.',
  }),
});

export const CLIENT_MESSAGES = {
  enter: Enter,
  resume: Resume,
  change: Change,
  chat: Chat,
  reaction: Reaction,
  leave: Leave,
  ping: Ping,
  ice: IceRequest,
  relay: RelayRequest,
  quality: Quality,
} as const;

export const ClientMessage = Type.Union(Object.values(CLIENT_MESSAGES));
export type Enter = Static<typeof Enter>;
export type Resume = Static<typeof Resume>;
export type Change = Static<typeof Change>;
export type Chat = Static<typeof Chat>;
export type Quality = Static<typeof Quality>;
export type ClientMessage = MessageOf<typeof CLIENT_MESSAGES>;
