/** Claims of the signed tokens: EdDSA JWTs with `kid`. SPEC rules KEY-1 to KEY-4. */
import { Type, type Static } from 'typebox';
import { ParticipantId, RoomId } from './ids.ts';

export const Mark = Type.String({
  pattern: '^[A-Za-z0-9_-]{22}$',
  description: '128 bits of HMAC-SHA-256, base64url.',
});

/** Identifies the signer, so that a token of another system with the same key is refused. */
export const ISSUER = 'parley';
export const TICKET_AUDIENCE = 'parley:ticket';
export const RESUME_AUDIENCE = 'parley:resume';
/** Verified by media relays, not by pods. */
export const MEDIA_AUDIENCE = 'parley:media';
/** Verified by stream relays. */
export const STREAMS_AUDIENCE = 'parley:streams';

/**
 * The marks that a ban matches: keyed hashes, so that neither tokens nor pods nor the store hold an address or a device id in the clear.
 * Present in named rooms only, whose owner can ban. SPEC rule MOD-8.
 */
export const VisitorMarks = Type.Object({
  device: Type.Optional(Mark),
  network: Mark,
});
export type VisitorMarks = Static<typeof VisitorMarks>;

/** Distinguishes a room from a later one with the same name. */
export const Incarnation = Type.String({ minLength: 1, maxLength: 64 });

const admission = {
  incarnation: Type.Optional(Incarnation),
  owner: Type.Optional(Type.Boolean({ description: 'The join carried the owner key.' })),
  visitor: Type.Optional(VisitorMarks),
};

export const TraceClaim = Type.String({
  pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-01$',
  description:
    'The span before, of a sampled trace, as `traceparent` of W3C Trace Context. SPEC rule TRACE-2.',
});
export const SpanId = Type.String({
  pattern: '^[0-9a-f]{16}$',
  description: 'The id of a span of W3C Trace Context.',
});

/** Times are seconds since 1970, as in RFC 7519. */
export const TicketClaims = Type.Object({
  iss: Type.Literal(ISSUER),
  aud: Type.Literal(TICKET_AUDIENCE),
  sub: ParticipantId,
  room: RoomId,
  ...admission,
  trace: Type.Optional(TraceClaim),
  /** The span of the client, which it does not record itself. SPEC rule TRACE-3. */
  caller: Type.Optional(SpanId),
  exp: Type.Integer(),
});
export const ResumeClaims = Type.Object({
  iss: Type.Literal(ISSUER),
  aud: Type.Literal(RESUME_AUDIENCE),
  sub: ParticipantId,
  room: RoomId,
  generation: Type.Integer({
    minimum: 1,
    description: 'The generation at welcome: a resume must be above it.',
  }),
  since: Type.Integer({
    minimum: 0,
    description: 'When the participant first entered, Unix ms: it gets no earlier chat lines.',
  }),
  ...admission,
  iat: Type.Integer({
    description: 'A pod lets in a participant that it does not know yet with a young token.',
  }),
  exp: Type.Integer(),
});
const Patterns = Type.Array(Type.String(), { maxItems: 16 });

/** The rights of a participant on a media relay. SPEC rules MEDIA-4 and MEDIA-5. */
export const MediaClaims = Type.Object({
  iss: Type.Literal(ISSUER),
  aud: Type.Literal(MEDIA_AUDIENCE),
  sub: ParticipantId,
  generation: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'That of the participant when the token was signed: a revocation names the highest that it covers. Absent for a live broadcast.',
    }),
  ),
  publish: Patterns,
  subscribe: Patterns,
  trace: Type.Optional(TraceClaim),
  iat: Type.Integer({ description: 'The token opens sessions for `media.tokenMaxAge` from this time on.' }),
  exp: Type.Integer({ description: 'When a session that the token opened ends.' }),
});
export type MediaClaims = Static<typeof MediaClaims>;
export type TicketClaims = Static<typeof TicketClaims>;
export type ResumeClaims = Static<typeof ResumeClaims>;
