/** Tokens as an attacker makes them: with any header, any claims and any key. */
import { createHmac, createPrivateKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Arena } from './arena.ts';

export interface SigningKey {
  readonly kid: string;
  readonly key: KeyObject;
  /** The public part, as in the key set. */
  readonly x: string;
}

/** The installation's own key, which only pods have. A token signed with it is wrong in one respect only. */
export function ownKey({ dir }: Pick<Arena, 'dir'>): SigningKey {
  const { active, keys } = JSON.parse(readFileSync(join(dir, 'secrets/keys.json'), 'utf8')) as {
    active: string;
    keys: { kid: string; x: string; d: string; kty: string; crv: string }[];
  };
  const jwk = keys.find(({ kid }) => kid === active);
  if (jwk === undefined) throw new Error('the key set has no active key');
  return { kid: jwk.kid, key: createPrivateKey({ key: { ...jwk }, format: 'jwk' }), x: jwk.x };
}

/** A key of the attacker's own. */
export function strangersKey(kid: string): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { kid, key: privateKey, x: publicKey.export({ format: 'jwk' }).x ?? '' };
}

export const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

export interface Jwt {
  readonly header?: object;
  readonly claims: object;
}

export function signed({ kid, key }: SigningKey, { header = {}, claims }: Jwt): string {
  const text = `${encode({ alg: 'EdDSA', kid, ...header })}.${encode(claims)}`;
  return `${text}.${sign(null, Buffer.from(text), key).toString('base64url')}`;
}

/** With `alg: none` and no signature. */
export const unsigned = ({ kid }: SigningKey, { claims }: Jwt): string =>
  `${encode({ alg: 'none', kid })}.${encode(claims)}.`;

/** With the public key as the secret of an HMAC. */
export function confused({ kid, x }: SigningKey, { claims }: Jwt): string {
  const text = `${encode({ alg: 'HS256', kid })}.${encode(claims)}`;
  return `${text}.${createHmac('sha256', Buffer.from(x, 'base64url')).update(text).digest('base64url')}`;
}

/** The signature of one token under the claims of another. */
export function transplanted(token: string, claims: object): string {
  const [head, , signature] = token.split('.');
  return `${head}.${encode(claims)}.${signature}`;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
