/** Media relays: their leases and what they are told on NATS, and the names of a room's broadcasts. SPEC rules MEDIA-1 to MEDIA-7, MEDIA-29. */
import { Type, type Static } from 'typebox';
import { ParticipantId, type RoomId } from './ids.ts';

const address = { pattern: '^https://[^\\s/]+/?$', maxLength: 256 };

/** SHA-256 of a certificate, base64. */
export const CertificateHash = Type.String({ pattern: '^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$' });

export const RelayName = Type.String({
  pattern: '^[A-Za-z0-9_-]+$',
  maxLength: 128,
  description: 'Name of the relay, which stays the same over restarts.',
});
export const RelayUrl = Type.String({
  ...address,
  description: 'Address to which clients connect: WebTransport, QUIC or WebSocket.',
});

/** Readers ignore unknown fields, so that relays and pods of two versions work together. */
export const MediaRelay = Type.Object({
  relay: RelayName,
  epoch: Type.Integer({
    minimum: 1,
    description: 'Orders the runs of the process: a later run has a greater epoch.',
  }),
  role: Type.Union([Type.Literal('origin'), Type.Literal('leaf')], {
    description:
      'A leaf serves clients and subscribes at its origins; an origin serves leaves, and clients where there is no leaf.',
  }),
  url: RelayUrl,
  certificateHashes: Type.Array(CertificateHash, {
    maxItems: 4,
    description: 'Current and next; empty where the certificate is from a public CA.',
  }),
  sessions: Type.Integer({ minimum: 0 }),
  capacity: Type.Integer({ minimum: 1, description: 'Maximum number of sessions.' }),
  draining: Type.Optional(
    Type.Boolean({ description: 'The relay is about to end: no client is sent to it.' }),
  ),
});
export type MediaRelay = Static<typeof MediaRelay>;

/** Of one `RelayMutes`: with names of the greatest length it fits into a message of NATS (1 MB). */
export const MAX_RELAY_MUTES = 1000;
const Participants = Type.Array(ParticipantId, { maxItems: MAX_RELAY_MUTES });

/** Readers ignore unknown fields, as for leases. SPEC rule MEDIA-29. */
export const RelayMutes = Type.Object({
  muted: { ...Participants, description: 'Participants whose sounds relays withhold.' },
  unmuted: { ...Participants, description: 'Participants whose sounds relays deliver again.' },
});
export type RelayMutes = Static<typeof RelayMutes>;

/** In a request for a relay by a client that had one. SPEC rule MEDIA-10. */
export const Exclude = Type.Optional(
  Type.String({
    maxLength: 256,
    description: 'The address of a relay that was lost or drains: the answer is another one if there is one.',
  }),
);

/** The broadcasts that one participant may publish, as a pattern of tokens (STR-105): `rooms/{room}/{participant}/camera` and others. */
export const participantBroadcasts = (room: RoomId, participant: ParticipantId): string =>
  `rooms/${room}/${participant}/*`;
/** The path of a broadcast that has no room. */
export const liveBroadcast = (name: string): string => `live/${name}`;

/** The broadcasts that all participants of a room may subscribe to. */
export const roomBroadcasts = (room: RoomId): string => `rooms/${room}/**`;
