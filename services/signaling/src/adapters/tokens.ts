/** Tickets, resume tokens and media tokens: EdDSA JWTs, verified with any key of the set, signed with the active one. SPEC rules KEY-1 to KEY-4. */
import { createPrivateKey, createPublicKey, sign as signBytes, type KeyObject } from 'node:crypto';
import { decodeJwt, errors, importJWK, jwtVerify, type CryptoKey, type JWK } from 'jose';
import { Type, type TSchema, type Static } from 'typebox';
import { decode } from '@parley/protocol/decode';
import {
  ISSUER,
  MEDIA_AUDIENCE,
  RESUME_AUDIENCE,
  ResumeClaims,
  STREAMS_AUDIENCE,
  TICKET_AUDIENCE,
  TicketClaims,
  type MediaClaims,
} from '@parley/protocol/tokens';

/** The operator's key set: rotate by adding a key, switching `active`, and dropping the old one when its tokens have expired. */
export const KeySet = Type.Object({
  active: Type.String(),
  keys: Type.Array(
    Type.Object({
      kty: Type.Literal('OKP'),
      crv: Type.Literal('Ed25519'),
      kid: Type.String({ minLength: 1 }),
      x: Type.String(),
      d: Type.Optional(Type.String({ description: 'Missing in a region that only verifies with this key.' })),
    }),
    { minItems: 1 },
  ),
});
export type KeySet = Static<typeof KeySet>;

export type Verified<Claims> =
  | { readonly ok: true; readonly claims: Claims }
  | { readonly ok: false; readonly why: 'invalid' | 'expired' };

export interface Tokens {
  signTicket(claims: Unsigned<TicketClaims>, ttlMs: number): string;
  signResume(claims: UnsignedResume, ttlMs: number): string;
  /** The same claims, issued now and with a later expiry, for a token that this installation has signed: it is not verified. */
  renewResume(token: string, ttlMs: number): string;
  signMedia(claims: Unsigned<MediaClaims>, ttlMs: number): string;
  /** For a topic of the stream relay that two visitors of pages meet on. SPEC rule KEY-6. */
  signPipe(claims: Pick<MediaClaims, 'sub' | 'publish' | 'subscribe'>, ttlMs: number): string;
  /** Whether this pod signed the ticket, which is still valid: then nothing about it needs to be checked before `verifyTicket`. */
  isOwnTicket(token: string): boolean;
  verifyTicket(token: string): Promise<Verified<TicketClaims>>;
  verifyResume(token: string): Promise<Verified<ResumeClaims>>;
}
type Unsigned<Claims> = Omit<Claims, 'iss' | 'aud' | 'exp'>;
type UnsignedResume = Omit<Unsigned<ResumeClaims>, 'iat'>;

/** Pods' clocks may differ by this much. */
export const CLOCK_TOLERANCE_S = 5;

/** 30 s of tickets at the pace of 100 joins a second. */
const ISSUED_KEPT = 3000;

/** Throws where the set is malformed or its active key cannot sign: a pod must not start with it. */
export async function createTokens(set: unknown): Promise<Tokens> {
  const decoded = decode(KeySet, set);
  if (!decoded.ok) throw new Error(`key set: ${decoded.reason}`);
  const { active, keys } = decoded.message;
  const publicKeys = new Map<string, CryptoKey>();
  for (const { d: _private, ...publicKey } of keys) publicKeys.set(publicKey.kid, await imported(publicKey));
  const signing = keys.find(({ kid }) => kid === active);
  if (signing?.d === undefined) throw new Error(`key set: the active key ${active} has no private part`);
  const key = createPrivateKey({ key: signing, format: 'jwk' });
  if (createPublicKey(key).export({ format: 'jwk' }).x !== signing.x)
    throw new Error(`key set: the two parts of the active key ${active} do not belong together`);
  const sign = signer(key, active);

  const verify = async <Schema extends TSchema>(
    token: string,
    audience: string,
    schema: Schema,
  ): Promise<Verified<Static<Schema>>> => {
    try {
      const { payload } = await jwtVerify(
        token,
        ({ kid }) => {
          const found = publicKeys.get(kid ?? '');
          if (found === undefined) throw new errors.JWKSNoMatchingKey();
          return found;
        },
        { algorithms: ['EdDSA'], issuer: ISSUER, audience, clockTolerance: CLOCK_TOLERANCE_S },
      );
      const claims = decode(schema, payload);
      return claims.ok ? { ok: true, claims: claims.message } : { ok: false, why: 'invalid' };
    } catch (error) {
      return { ok: false, why: error instanceof errors.JWTExpired ? 'expired' : 'invalid' };
    }
  };

  // The edge leads most people back to the pod that gave the ticket: it need not verify what it has just signed.
  const issued = new Map<string, { readonly claims: TicketClaims; readonly until: number }>();
  const remember = (ticket: string, claims: Unsigned<TicketClaims>, ttlMs: number): string => {
    const until = Date.now() + ttlMs;
    const exp = Math.floor(until / 1000);
    issued.set(ticket, { claims: { ...claims, iss: ISSUER, aud: TICKET_AUDIENCE, exp }, until });
    for (const [oldest, { until: end }] of issued) {
      if (issued.size <= ISSUED_KEPT && end > Date.now()) break;
      issued.delete(oldest);
    }
    return ticket;
  };

  const signResume = (claims: Record<string, unknown>, ttlMs: number): string =>
    sign({ ...claims, iat: Math.floor(Date.now() / 1000) }, RESUME_AUDIENCE, ttlMs);

  return {
    signTicket: (claims, ttlMs) => remember(sign(claims, TICKET_AUDIENCE, ttlMs), claims, ttlMs),
    signMedia: (claims, ttlMs) => sign(claims, MEDIA_AUDIENCE, ttlMs),
    signPipe: (claims, ttlMs) => sign(claims, STREAMS_AUDIENCE, ttlMs),
    signResume,
    renewResume(token, ttlMs) {
      const { exp: _expired, ...claims } = decodeJwt(token);
      return signResume(claims, ttlMs);
    },
    isOwnTicket: (token) => (issued.get(token)?.until ?? 0) > Date.now(),
    async verifyTicket(token) {
      const known = issued.get(token);
      if (known !== undefined && known.until > Date.now()) return { ok: true, claims: known.claims };
      return verify(token, TICKET_AUDIENCE, TicketClaims);
    },
    verifyResume: (token) => verify(token, RESUME_AUDIENCE, ResumeClaims),
  };
}

type Sign = (claims: Record<string, unknown>, audience: string, ttlMs: number) => string;

/** JWS Compact Serialization (RFC 7515 §7.1) with EdDSA. Signs in place: by way of the thread pool, as libraries do, it takes three times the CPU. */
function signer(key: KeyObject, kid: string): Sign {
  const header = encoded({ alg: 'EdDSA', kid });
  return (claims, audience, ttlMs) => {
    const exp = Math.floor((Date.now() + ttlMs) / 1000);
    const signed = `${header}.${encoded({ ...claims, iss: ISSUER, aud: audience, exp })}`;
    return `${signed}.${signBytes(null, Buffer.from(signed), key).toString('base64url')}`;
  };
}

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

async function imported(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, 'EdDSA');
  if (key instanceof Uint8Array) throw new Error('key set: not an Ed25519 key');
  return key;
}
