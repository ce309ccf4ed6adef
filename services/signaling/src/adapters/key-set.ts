/** The operator's key set: signs with the active key and verifies with any key of the set. SPEC rules KEY-1 to KEY-4. */
import { createPrivateKey, createPublicKey, sign as signBytes, type KeyObject } from 'node:crypto';
import { errors, importJWK, jwtVerify, type CryptoKey, type JWK } from 'jose';
import { Type, type TSchema, type Static } from 'typebox';
import { decode } from '@parley/protocol/decode';
import { ISSUER } from '@parley/protocol/tokens';

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
});
export type KeySet = Static<typeof KeySet>;

export type Verified<Claims> =
  | { readonly ok: true; readonly claims: Claims }
  | { readonly ok: false; readonly reason: 'invalid' | 'expired' };

export type Sign = (claims: Record<string, unknown>, audience: string, ttlMs: number) => string;
export type Verify = <Schema extends TSchema>(
  token: string,
  audience: string,
  schema: Schema,
) => Promise<Verified<Static<Schema>>>;

/** Pods' clocks may differ by this much. */
export const CLOCK_TOLERANCE_S = 5;

/** Throws where the set is malformed or its active key cannot sign: a pod must not start with it. */
export async function importKeySet(set: unknown): Promise<{ readonly sign: Sign; readonly verify: Verify }> {
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
  return { sign: signer(key, active), verify: verifier(publicKeys) };
}

function verifier(publicKeys: ReadonlyMap<string, CryptoKey>): Verify {
  return async (token, audience, schema) => {
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
      return claims.ok ? { ok: true, claims: claims.message } : { ok: false, reason: 'invalid' };
    } catch (error) {
      return { ok: false, reason: error instanceof errors.JWTExpired ? 'expired' : 'invalid' };
    }
  };
}

/**
 * JWS Compact Serialization (RFC 7515 §7.1) with EdDSA. Signs on the calling thread: the thread pool, which libraries use, takes three times the
 * CPU.
 */
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
