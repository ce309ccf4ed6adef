/** Media relays: what each says of itself over NATS, and how a room's broadcasts are named. SPEC rules MEDIA-1 to MEDIA-7. */
import { Type, type Static } from 'typebox';
import type { ParticipantId, RoomId } from './ids.ts';

const address = { pattern: '^https://[^\\s/]+/?$', maxLength: 256 };

/** SHA-256 of a certificate, base64. */
export const CertificateHash = Type.String({ pattern: '^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$' });

export const RelayName = Type.String({
  pattern: '^[A-Za-z0-9_-]+$',
  maxLength: 128,
  description: 'Its name: the same after a restart.',
});
export const RelayUrl = Type.String({
  ...address,
  description: 'Where clients connect: WebTransport, QUIC or WebSocket.',
});

/** A field that is not known is skipped, so that relays and pods of two versions understand each other. */
export const MediaRelay = Type.Object({
  relay: RelayName,
  epoch: Type.Integer({ minimum: 1, description: 'Which run of it: a later one is greater.' }),
  role: Type.Union([Type.Literal('origin'), Type.Literal('leaf')], {
    description:
      'A leaf serves clients and gets from its origins; an origin serves leaves, and clients where there is no leaf.',
  }),
  url: RelayUrl,
  certificateHashes: Type.Array(CertificateHash, {
    maxItems: 4,
    description: 'Current and next; empty where the certificate is from a public CA.',
  }),
  sessions: Type.Integer({ minimum: 0 }),
  capacity: Type.Integer({ minimum: 1, description: 'Sessions it takes.' }),
  gone: Type.Optional(Type.Boolean({ description: 'The last word: it is going.' })),
});
export type MediaRelay = Static<typeof MediaRelay>;

/** Said by whoever asks for a relay and had one. SPEC rule MEDIA-10. */
export const Without = Type.Optional(
  Type.String({
    maxLength: 256,
    description:
      'The address of the relay that was lost or goes: another one is answered where there is one.',
  }),
);

/** What one participant may publish, as a pattern of tokens (STR-105): `rooms/{room}/{participant}/camera` and the like. */
export const participantBroadcasts = (room: RoomId, participant: ParticipantId): string =>
  `rooms/${room}/${participant}/*`;
/** The path of a broadcast that has no room. */
export const liveBroadcast = (name: string): string => `live/${name}`;

/** What everyone in a room may subscribe to. */
export const roomBroadcasts = (room: RoomId): string => `rooms/${room}/**`;
