/**
 * The secret of a room's link, and what is derived from it by HKDF-SHA-256. It is in the fragment of the link, which browsers send to no server.
 * SPEC rule MEDIA-16.
 */
import { toBase64, toHex } from '../../pages/base64.ts';
import { readSecret } from '../secret.ts';
import { codeDigits } from './code-digits.ts';

const ID_BYTES = 8;
const PROOF_BYTES = 16;
const KEY_BYTES = 32;
const BASE_BITS = 128;
const CODE_BYTES = 16;

const text = new TextEncoder();

export class RoomSecret {
  /** An id of the secret that does not reveal it: 16 hex digits. */
  readonly id: string;
  readonly #subtle: SubtleCrypto;
  readonly #proofKey: CryptoKey;
  readonly #pairSalt: ArrayBuffer;
  readonly #codeSalt: ArrayBuffer;

  private constructor(
    subtle: SubtleCrypto,
    derived: {
      readonly id: ArrayBuffer;
      readonly proofKey: CryptoKey;
      readonly pairSalt: ArrayBuffer;
      readonly codeSalt: ArrayBuffer;
    },
  ) {
    this.id = toHex(new Uint8Array(derived.id));
    this.#subtle = subtle;
    this.#proofKey = derived.proofKey;
    this.#pairSalt = derived.pairSalt;
    this.#codeSalt = derived.codeSalt;
  }

  /** `secret`: base64url, as accepted by `readSecret`; throws otherwise. */
  static async of(subtle: SubtleCrypto, secret: string, room: string): Promise<RoomSecret> {
    const bytes = readSecret(secret);
    if (bytes === undefined) throw new Error('the end-to-end key is not one');
    const key = await subtle.importKey('raw', bytes, 'HKDF', false, ['deriveBits']);
    const derive = (info: string, count: number): Promise<ArrayBuffer> =>
      subtle.deriveBits(derivation(room, info), key, 8 * count);
    const hmac = { name: 'HMAC', hash: 'SHA-256' };
    const proof = await derive('proof', KEY_BYTES);
    return new RoomSecret(subtle, {
      id: await derive('id', ID_BYTES),
      proofKey: await subtle.importKey('raw', proof, hmac, false, ['sign']),
      pairSalt: await derive('pair', KEY_BYTES),
      codeSalt: await derive('code', CODE_BYTES),
    });
  }

  /** Shows that a participant who knows the secret has this public key: 128 bits of an HMAC-SHA-256, in base64url. */
  async proof(participant: string, publicKey: string): Promise<string> {
    const named = text.encode(`${participant} ${publicKey}`);
    const signed = await this.#subtle.sign('HMAC', this.#proofKey, named);
    return toBase64(new Uint8Array(signed, 0, PROOF_BYTES));
  }

  /**
   * The key under which one page sends its media keys to another: without the secret of the link it cannot be derived from an agreement. `agreed`: the
   * bits of the key agreement. `parties`: what each side is called, and its public key.
   */
  async pairKey(agreed: ArrayBuffer, parties: string): Promise<CryptoKey> {
    const shared = await this.#subtle.importKey('raw', agreed, 'HKDF', false, ['deriveKey']);
    const info = text.encode(`parley media 2 ${parties}`);
    const params = { name: 'HKDF', hash: 'SHA-256', salt: this.#pairSalt, info };
    const algorithm = { name: 'AES-GCM', length: 8 * KEY_BYTES };
    return this.#subtle.deriveKey(params, shared, algorithm, false, ['encrypt', 'decrypt']);
  }

  /** Twenty digits that stand for the secret and this list of public keys, in groups of five. */
  code(publicKeys: string): Promise<string> {
    return codeDigits(this.#subtle, publicKeys, this.#codeSalt);
  }
}

/** The base key of one track (RFC 9605) from a sender's key of 16 bytes. `track`: `{participant}/{instance}/{track}`. */
export async function trackBaseKey(
  subtle: SubtleCrypto,
  senderKey: Uint8Array<ArrayBuffer>,
  room: string,
  track: string,
): Promise<CryptoKey> {
  const key = await subtle.importKey('raw', senderKey, 'HKDF', false, ['deriveBits']);
  const bits = await subtle.deriveBits(derivation(room, `track ${track}`), key, BASE_BITS);
  return subtle.importKey('raw', bits, 'HKDF', false, ['deriveBits', 'deriveKey']);
}

function derivation(room: string, info: string): HkdfParams {
  return {
    name: 'HKDF',
    hash: 'SHA-256',
    salt: text.encode(`parley ${room}`),
    info: text.encode(`parley media 2 ${info}`),
  };
}
