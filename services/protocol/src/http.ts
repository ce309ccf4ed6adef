/** The HTTP interface `/v1`: bodies of requests and answers. Its routes are in `routes.ts`. */
import { Type, type Static } from 'typebox';
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

export const REGIONS_PATH = '/v1/regions';

/** The socket of a room, which is not in the table of routes: `/v1/rooms/:room/socket`. */
export const SOCKET_PATH = /^\/v1\/rooms\/([^/?]+)\/socket(?:\?|$)/;
export const socketPath = (room: RoomId): string => `/v1/rooms/${room}/socket`;
