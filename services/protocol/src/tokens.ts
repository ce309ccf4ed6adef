/** What our signed tokens say: EdDSA JWTs with `kid`. SPEC rules KEY-1 to KEY-4. */
import { Type, type Static } from 'typebox';
import { ParticipantId, RoomId } from './ids.ts';

/** Names the installation's signer, so that a token of another system with the same key is refused. */
export const ISSUER = 'parley';
export const TICKET_AUDIENCE = 'parley:ticket';
export const RESUME_AUDIENCE = 'parley:resume';

/** Times are seconds since 1970, as RFC 7519 has them. */
export const TicketClaims = Type.Object({
  iss: Type.Literal(ISSUER),
  aud: Type.Literal(TICKET_AUDIENCE),
  sub: ParticipantId,
  room: RoomId,
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
    description: 'When the participant first entered, Unix ms: it is shown no chat from before.',
  }),
  exp: Type.Integer(),
});
export type TicketClaims = Static<typeof TicketClaims>;
export type ResumeClaims = Static<typeof ResumeClaims>;
