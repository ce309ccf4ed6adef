/** The operator's key set: signs with the active key and verifies with any key of the set. SPEC rules KEY-1 to KEY-4. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { Type, type TSchema, type Static } from 'typebox';
import { decode } from '@parley/protocol/decode';
import { ISSUER } from '@parley/protocol/tokens';
import { isSignedBy, readJws, signerOf } from './jws.ts';

/** RFC 7518 §6.4. At least as long as the hash. */
const SharedKey = Type.Object({
  kty: Type.Literal('oct'),
  k: Type.String({ pattern: '^[A-Za-z0-9_-]{43,}$', description: 'At least 32 bytes, base64url.' }),
});

/** To rotate: add a key, set `active` to it, and remove the old key when its tokens have expired. */
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
  chat: Type.Optional(
    Type.Array(SharedKey, {
      minItems: 1,
      description:
        'Proves chat lines, with the first one, where regions have private keys of their own: the same in all of them.',
    }),
  ),
});
export type KeySet = Static<typeof KeySet>;

export type Verified<Claims> =
  | { readonly ok: true; readonly claims: Claims }
  | { readonly ok: false; readonly reason: 'invalid' | 'expired' };

export type Sign = (claims: Record<string, unknown>, audience: string, ttlMs: number) => string;
/** The schema names the issuer and the audience. */
export type Verify = <Schema extends TSchema>(token: string, schema: Schema) => Verified<Static<Schema>>;

/** Pods' clocks may differ by this much. */
export const CLOCK_TOLERANCE_S = 5;

/**
 * The secrets in base64url that all pods of the installation have, first the one that is used: the chat keys, or the private parts where all regions have
 * the same. Empty where the active key has no private part.
 */
export function sharedSecrets({ active, keys, chat }: KeySet): string[] {
  if (chat !== undefined) return chat.map(({ k }) => k);
  const own = keys.find(({ kid }) => kid === active)?.d;
  if (own === undefined) return [];
  return [own, ...keys.flatMap(({ kid, d }) => (kid === active || d === undefined ? [] : [d]))];
}

/** Throws where the set is malformed or its active key cannot sign: a pod must not start with it. */
export function importKeySet(set: unknown): { readonly sign: Sign; readonly verify: Verify } {
  const decoded = decode(KeySet, set);
  if (!decoded.ok) throw new Error(`key set: ${decoded.reason}`);
  const { active, keys } = decoded.message;
  const twice = keys.find(({ kid }, index) => keys.some((other, at) => at < index && other.kid === kid));
  if (twice !== undefined) throw new Error(`key set: two keys have the kid ${twice.kid}`);
  const known = new Map<string, KeyObject>();
  for (const { d: _private, ...publicKey } of keys)
    known.set(publicKey.kid, createPublicKey({ key: publicKey, format: 'jwk' }));
  const signing = keys.find(({ kid }) => kid === active);
  if (signing?.d === undefined) throw new Error(`key set: the active key ${active} has no private part`);
  const key = createPrivateKey({ key: signing, format: 'jwk' });
  if (createPublicKey(key).export({ format: 'jwk' }).x !== signing.x)
    throw new Error(`key set: the two parts of the active key ${active} do not belong together`);
  known.set(active, key);
  return { sign: signer(key, active), verify: verifier(known) };
}

function signer(key: KeyObject, kid: string): Sign {
  const sign = signerOf({ alg: 'EdDSA', kid }, key);
  return (claims, aud, ttlMs) => {
    const exp = Math.floor((Date.now() + ttlMs) / 1000);
    return sign({ ...claims, iss: ISSUER, aud, exp });
  };
}

/** `crit` lists what a reader must understand (RFC 7515 §4.1.11); this one understands no extension. */
const Header = Type.Object({
  alg: Type.Literal('EdDSA'),
  kid: Type.String(),
  crit: Type.Optional(Type.Never()),
});
/** RFC 7519 §4.1. In seconds. */
const Times = Type.Object({
  exp: Type.Number(),
  nbf: Type.Optional(Type.Number()),
  iat: Type.Optional(Type.Number()),
});

function verifier(keys: ReadonlyMap<string, KeyObject>): Verify {
  const invalid = { ok: false, reason: 'invalid' } as const;
  return (token, schema) => {
    const jws = readJws(token);
    const header = decode(Header, jws?.header);
    const key = header.ok ? keys.get(header.message.kid) : undefined;
    if (jws === undefined || key === undefined || !isSignedBy(key, jws)) return invalid;
    const claims = decode(schema, jws.payload);
    const times = decode(Times, jws.payload);
    const now = Date.now() / 1000;
    if (!claims.ok || !times.ok || now + CLOCK_TOLERANCE_S < (times.message.nbf ?? 0)) return invalid;
    if (times.message.exp + CLOCK_TOLERANCE_S <= now) return { ok: false, reason: 'expired' };
    return { ok: true, claims: claims.message };
  };
}
