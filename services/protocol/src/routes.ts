/** The table of the routes of `/v1`, from which the OpenAPI page is generated. Clients need none of it, and would load it whole. */
import type { TSchema } from 'typebox';
import type { Code } from './codes.ts';
import {
  Ban,
  BanList,
  BanRequest,
  ChangeRoomRequest,
  CreateRoomAnswer,
  CreateRoomRequest,
  JoinAnswer,
  JoinRequest,
  LiveAnswer,
  LiveRequest,
  ParticipantList,
  REGIONS_PATH,
  RegionList,
  RoomView,
} from './http.ts';

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
  kick: toParticipant('kick', 'Remove a participant, who may ask to come back'),
  requestMute: toParticipant('request-mute', 'Ask a participant to mute'),
  lowerHand: toParticipant('lower-hand', 'Lower the hand of a participant'),
  mute: toParticipant('mute', 'Mute a participant: others play no sound of it', ['TOO_MANY_MUTED']),
  makeCoOwner: toParticipant(
    'make-co-owner',
    'Let a participant do what an owner may, while it is in the call',
    ['TOO_MANY_CO_OWNERS'],
  ),
  removeCoOwner: toParticipant('remove-co-owner', 'Take that back'),
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
