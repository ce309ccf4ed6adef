/** The HTTP interface `/v1`: bodies of requests and answers, and the table of routes, from which the OpenAPI page is generated. */
import { Type, type Static, type TSchema } from 'typebox';
import type { Code } from './codes.ts';
import { ParticipantId, RegionId, RoomId, RoomName } from './ids.ts';
import { Exclude } from './media.ts';
import { DisplayName, Presence } from './people.ts';

export const IceServer = Type.Object({
  urls: Type.Array(Type.String()),
  username: Type.Optional(Type.String()),
  credential: Type.Optional(Type.String()),
});
export type IceServer = Static<typeof IceServer>;
export const IceOffer = Type.Object({
  iceServers: Type.Array(IceServer),
  iceTtlS: Type.Integer({
    minimum: 0,
    description: 'Seconds for which the credentials make new allocations; 0 where there are none.',
  }),
});
export type IceOffer = Static<typeof IceOffer>;

export const RelayOffer = Type.Object({
  url: Type.String({ description: 'Address of the relay, for WebTransport and WebSocket.' }),
  token: Type.String({
    description: 'EdDSA token that grants publishing and subscribing to the paths in it.',
  }),
  certificateHashes: Type.Array(Type.String(), {
    description: 'SHA-256, base64; empty where the certificate is from a public CA. Current and next.',
  }),
});
export type RelayOffer = Static<typeof RelayOffer>;

/** @hidden */
export const RoomView = Type.Object({
  room: RoomId,
  kind: Type.Union([Type.Literal('ad-hoc'), Type.Literal('named')]),
  homeRegion: Type.Union([RegionId, Type.Null()]),
  cap: Type.Integer({ minimum: 1 }),
  locked: Type.Boolean(),
  lobby: Type.Optional(Type.Boolean({ description: 'Newcomers wait until the owner admits them.' })),
  hardCap: Type.Optional(
    Type.Boolean({ description: 'The cap is enforced exactly, by seats in the home region.' }),
  ),
});
/** A room. `cap`: its maximum number of participants, exact with `hardCap`. `lobby`: the owner admits newcomers. @useDeclaredType */
export type RoomView = Static<typeof RoomView>;

export const RegionUrl = Type.String({
  pattern: '^https?://[^/?#@\\s]+$',
  maxLength: 255,
  description: 'Origin of the API of a region: scheme and host, with a port where it is not the usual one.',
});
export const Region = Type.Object({ name: RegionId, url: RegionUrl });
export type Region = Static<typeof Region>;
/** A relay of another region, for when neither the relay nor signaling answers; `api` is of its region. SPEC rules MEDIA-24, MEDIA-25. */
export const StandbyRelay = Type.Object({
  ...RelayOffer.properties,
  api: RegionUrl,
  renewAfterMs: Type.Integer({
    minimum: 1,
    description: 'The client asks again after this time; the token opens sessions for twice as long.',
  }),
});
export type StandbyRelay = Static<typeof StandbyRelay>;
/** The list is in each welcome, so its length has a bound. */
export const MAX_REGIONS = 32;
/** `region` is the one that answers; it is in the list. */
export const RegionList = Type.Object({
  region: RegionId,
  regions: Type.Array(Region, {
    minItems: 1,
    maxItems: MAX_REGIONS,
    description: 'All regions of the installation; a participant may use any of them.',
  }),
});
export type RegionList = Static<typeof RegionList>;

export const CreateRoomRequest = Type.Object({
  name: Type.Optional(RoomName),
  cap: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description:
        'Maximum number of participants, enforced exactly; the installation may allow fewer. Only with a name.',
    }),
  ),
  lobby: Type.Optional(Type.Boolean({ description: 'Newcomers wait until the owner admits them.' })),
});
/** @hidden */
export const ChangeRoomRequest = Type.Object({
  locked: Type.Optional(Type.Boolean()),
  lobby: Type.Optional(Type.Boolean()),
  muted: Type.Optional(
    Type.Boolean({
      description:
        'Whether everyone but owners is muted, also those who join later. Both values end all single mutes and exceptions.',
    }),
  ),
});
export const CreateRoomAnswer = Type.Object({
  room: RoomView,
  link: Type.String({ description: 'Address of the page of the room.' }),
  ownerKey: Type.String({ description: 'Shown once; send it as `Authorization: Bearer`.' }),
  idleMs: Type.Integer({
    minimum: 1,
    description:
      'The room is deleted when it was not used for this time. One for a call that was used has more of it.',
  }),
});
export const DeviceId = Type.String({
  pattern: '^[A-Za-z0-9_-]{16,64}$',
  description: 'A random id that the client keeps. A ban matches it, or the network address.',
});
export const JoinRequest = Type.Object({
  name: Type.Optional(DisplayName),
  device: Type.Optional(DeviceId),
  slot: Type.Optional(
    Type.String({ maxLength: 64, description: 'The slot of an earlier answer `BUSY`, whose time has come.' }),
  ),
});
export const JoinAnswer = Type.Object({
  participant: ParticipantId,
  ticket: Type.String(),
  ticketTtlMs: Type.Integer(),
  socketUrl: Type.String({ description: 'WebSocket address; the first message carries the ticket.' }),
  room: RoomView,
  regions: Type.Optional(RegionList),
});
export const LiveRequest = Type.Object({
  publish: Type.Optional(
    Type.Boolean({ description: 'Whether to publish the broadcast, and not only to subscribe to it.' }),
  ),
  exclude: Exclude,
});
export const LiveAnswer = Type.Object({
  broadcast: Type.String({ description: 'Its path on the relay: `live/{name}`.' }),
  relay: RelayOffer,
});
export const BanRequest = Type.Object({
  network: Type.Optional(
    Type.Boolean({
      description: 'Also bans the network address; always the case for a client that sent no device id.',
    }),
  ),
});
/** @hidden */
export const Ban = Type.Object({
  id: Type.String(),
  name: DisplayName,
  network: Type.Boolean({ description: 'Whether it covers the network address too.' }),
  at: Type.Integer({ description: 'Unix time in ms.' }),
});
export const BanList = Type.Object({ bans: Type.Array(Ban) });
export const ListedParticipant = Type.Object({
  participant: ParticipantId,
  name: DisplayName,
  state: Type.Union([...Presence.anyOf, Type.Literal('waiting')], {
    description: 'As in the roster, or `waiting` in the lobby.',
  }),
  owner: Type.Optional(Type.Boolean({ description: 'Joined with the owner key of the room.' })),
});
export const ParticipantList = Type.Object({ participants: Type.Array(ListedParticipant) });
/** Not an enumeration: a client must accept an error of a newer pod whose code it does not know (`knownCode`). */
export const CodeName = Type.String({
  pattern: '^[A-Z][A-Z0-9_]{1,63}$',
  description: 'A code of the table of codes; a reader treats an unknown one as INTERNAL.',
});

export const ErrorAnswer = Type.Object({
  code: CodeName,
  message: Type.String(),
  retryAfterMs: Type.Optional(Type.Integer({ minimum: 0 })),
  slot: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        'With `BUSY`: a place that is kept. The same request with it is accepted once, from `retryAfterMs` on for `slot.keep`.',
    }),
  ),
});
export type CreateRoomRequest = Static<typeof CreateRoomRequest>;
export type CreateRoomAnswer = Static<typeof CreateRoomAnswer>;
/** A change of a named room. A field that is absent stays unchanged. @useDeclaredType */
export type ChangeRoomRequest = Static<typeof ChangeRoomRequest>;
export type LiveRequest = Static<typeof LiveRequest>;
export type LiveAnswer = Static<typeof LiveAnswer>;
export type BanRequest = Static<typeof BanRequest>;
/** A ban of a named room. `network`: it covers the network address too. `at`: Unix time in ms. @useDeclaredType */
export type Ban = Static<typeof Ban>;
export type BanList = Static<typeof BanList>;
export type ParticipantList = Static<typeof ParticipantList>;
export type JoinRequest = Static<typeof JoinRequest>;
export type JoinAnswer = Static<typeof JoinAnswer>;
export type ErrorAnswer = Static<typeof ErrorAnswer>;

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With `:parameters`, in the syntax of the router. */
  readonly path: string;
  readonly summary: string;
  readonly body: TSchema | null;
  readonly answer: { readonly status: number; readonly schema: TSchema | null };
  readonly owner: boolean;
  readonly codes: readonly Code[];
}

/** The codes of every request that needs the owner key. */
const OWNER_CODES = [
  'BAD_REQUEST',
  'BODY_TOO_LARGE',
  'ROOM_INVALID',
  'ROOM_NOT_FOUND',
  'OWNER_KEY_INVALID',
  'TOO_MANY_REQUESTS',
  'POD_FULL',
  'NOT_READY',
  'ROOM_HOME_UNREACHABLE',
  'STORE_UNAVAILABLE',
  'ORIGIN_DENIED',
] as const satisfies readonly Code[];

/** A command of an owner about one participant, without a body. */
const toParticipant = (command: string, summary: string, codes: readonly Code[] = []) =>
  ({
    method: 'POST',
    path: `/v1/rooms/:room/participants/:participant/${command}`,
    summary,
    body: null,
    answer: { status: 204, schema: null },
    owner: true,
    codes: [...OWNER_CODES, 'PARTICIPANT_NOT_FOUND', ...codes],
  }) as const;

/** Besides the table, which a client that needs only this would load whole. */
export const REGIONS_PATH = '/v1/regions';

export const ROUTES = {
  createRoom: {
    method: 'POST',
    path: '/v1/rooms',
    summary: 'Create a named room in this region, or without a name the room of a call',
    body: CreateRoomRequest,
    answer: { status: 201, schema: CreateRoomAnswer },
    owner: false,
    codes: [
      'BAD_REQUEST',
      'BODY_TOO_LARGE',
      'ROOM_EXISTS',
      'TOO_MANY_ROOMS',
      'REGION_FULL',
      'STORE_UNAVAILABLE',
      'ORIGIN_DENIED',
    ],
  },
  readRoom: {
    method: 'GET',
    path: '/v1/rooms/:room',
    summary: 'Read a room',
    body: null,
    answer: { status: 200, schema: RoomView },
    owner: false,
    codes: [
      'ROOM_INVALID',
      'ROOM_NOT_FOUND',
      'ROOM_HOME_UNREACHABLE',
      'STORE_UNAVAILABLE',
      'TOO_MANY_REQUESTS',
      'ORIGIN_DENIED',
    ],
  },
  deleteRoom: {
    method: 'DELETE',
    path: '/v1/rooms/:room',
    summary: 'Delete a named room; its participants are disconnected',
    body: null,
    answer: { status: 204, schema: null },
    owner: true,
    codes: OWNER_CODES,
  },
  changeRoom: {
    method: 'PATCH',
    path: '/v1/rooms/:room',
    summary: 'Lock or unlock a named room, open or close its lobby, mute everyone or let everyone speak',
    body: ChangeRoomRequest,
    answer: { status: 200, schema: RoomView },
    owner: true,
    codes: OWNER_CODES,
  },
  listBans: {
    method: 'GET',
    path: '/v1/rooms/:room/bans',
    summary: 'List the bans of a named room',
    body: null,
    answer: { status: 200, schema: BanList },
    owner: true,
    codes: OWNER_CODES,
  },
  unban: {
    method: 'DELETE',
    path: '/v1/rooms/:room/bans/:ban',
    summary: 'Lift a ban',
    body: null,
    answer: { status: 204, schema: null },
    owner: true,
    codes: [...OWNER_CODES, 'BAN_NOT_FOUND'],
  },
  listParticipants: {
    method: 'GET',
    path: '/v1/rooms/:room/participants',
    summary: 'List the participants of a named room, on every pod, and the newcomers in its lobby',
    body: null,
    answer: { status: 200, schema: ParticipantList },
    owner: true,
    codes: OWNER_CODES,
  },
  ban: {
    method: 'POST',
    path: '/v1/rooms/:room/participants/:participant/ban',
    summary: 'Remove a participant and ban its device, or its network too',
    body: BanRequest,
    answer: { status: 200, schema: Ban },
    owner: true,
    codes: [...OWNER_CODES, 'PARTICIPANT_NOT_FOUND', 'TOO_MANY_BANS'],
  },
  kick: toParticipant('kick', 'Remove a participant, who may join again'),
  requestMute: toParticipant('request-mute', 'Ask a participant to mute'),
  lowerHand: toParticipant('lower-hand', 'Lower the hand of a participant'),
  mute: toParticipant('mute', 'Mute a participant: others play no sound of it', ['TOO_MANY_MUTED']),
  unmute: toParticipant('unmute', 'Let a muted participant speak', ['TOO_MANY_MUTED']),
  endCall: {
    method: 'POST',
    path: '/v1/rooms/:room/end',
    summary: 'End the call for all participants and newcomers in the lobby; the room remains',
    body: null,
    answer: { status: 204, schema: null },
    owner: true,
    codes: OWNER_CODES,
  },
  admit: toParticipant('admit', 'Admit a newcomer from the lobby', ['ROOM_FULL']),
  deny: toParticipant('deny', 'Deny a newcomer in the lobby'),
  joinRoom: {
    method: 'POST',
    path: '/v1/rooms/:room/join',
    summary: 'Ask to join, as owner if the key is sent: answers a ticket and the socket address',
    body: JoinRequest,
    answer: { status: 200, schema: JoinAnswer },
    owner: false,
    codes: [
      'BAD_REQUEST',
      'BODY_TOO_LARGE',
      'ROOM_INVALID',
      'ROOM_NOT_FOUND',
      'ROOM_FULL',
      'ROOM_LOCKED',
      'BANNED',
      'NAME_INVALID',
      'TOO_MANY_JOINS',
      'POD_FULL',
      'BUSY',
      'NOT_READY',
      'ROOM_HOME_UNREACHABLE',
      'STORE_UNAVAILABLE',
      'ORIGIN_DENIED',
    ],
  },
  listRegions: {
    method: 'GET',
    path: REGIONS_PATH,
    summary: 'List the regions of the installation',
    body: null,
    answer: { status: 200, schema: RegionList },
    owner: false,
    codes: ['TOO_MANY_REQUESTS', 'NOT_READY', 'POD_FULL', 'ORIGIN_DENIED'],
  },
  openLive: {
    method: 'POST',
    path: '/v1/live/:name',
    summary: 'Request access to a live broadcast: answers a relay and a token for it',
    body: LiveRequest,
    answer: { status: 200, schema: LiveAnswer },
    owner: false,
    codes: [
      'BAD_REQUEST',
      'BODY_TOO_LARGE',
      'NAME_INVALID',
      'LIVE_DISABLED',
      'RELAY_UNAVAILABLE',
      'TOO_MANY_JOINS',
      'BUSY',
      'NOT_READY',
      'ORIGIN_DENIED',
    ],
  },
} as const satisfies Record<string, Route>;

/** The socket of a room, which is not in the table of routes: `/v1/rooms/:room/socket`. */
export const SOCKET_PATH = /^\/v1\/rooms\/([^/?]+)\/socket(?:\?|$)/;
export const socketPath = (room: RoomId): string => `/v1/rooms/${room}/socket`;
