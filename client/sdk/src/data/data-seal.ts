/** Encrypts data that goes through the service, with a key from the secret of the room's link. SPEC rule DATA-2. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { Random } from '../ports.ts';
import { readSecret } from '../sfu/secret.ts';

export interface DataSealOptions {
  readonly subtle: SubtleCrypto;
  readonly random: Random;
  readonly room: string;
}

/** What the encryption binds the data to. */
export interface About {
  readonly from: ParticipantId;
  readonly to: ParticipantId;
  readonly number: number;
  readonly text: boolean;
}

const NONCE_BYTES = 12;
const KEY_BITS = 256;

const encoder = new TextEncoder();

export class DataSeal {
  readonly #options: DataSealOptions;
  #secret = '';
  #key: Promise<CryptoKey | undefined> = Promise.resolve(undefined);

  constructor(options: DataSealOptions) {
    this.#options = options;
  }

  /** A nonce of 12 bytes, and AES-256-GCM. Rejects where `secret` is none (`readSecret`). */
  async seal(secret: string, bytes: Uint8Array<ArrayBuffer>, about: About): Promise<Uint8Array<ArrayBuffer>> {
    const { subtle, random } = this.#options;
    const key = await this.#keyOf(secret);
    if (key === undefined) throw new Error('the end-to-end key is not one');
    const nonce = Uint8Array.from(random.bytes(NONCE_BYTES));
    const sealed = await subtle.encrypt(algorithm(nonce, about), key, bytes);
    const all = new Uint8Array(NONCE_BYTES + sealed.byteLength);
    all.set(nonce);
    all.set(new Uint8Array(sealed), NONCE_BYTES);
    return all;
  }

  /** `undefined`: of another secret, or about something else. */
  async open(
    secret: string,
    sealed: Uint8Array<ArrayBuffer>,
    about: About,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const key = await this.#keyOf(secret);
    if (key === undefined || sealed.length < NONCE_BYTES) return undefined;
    const [nonce, rest] = [sealed.slice(0, NONCE_BYTES), sealed.slice(NONCE_BYTES)];
    const opened = await this.#options.subtle
      .decrypt(algorithm(nonce, about), key, rest)
      .catch(() => undefined);
    return opened && new Uint8Array(opened);
  }

  #keyOf(secret: string): Promise<CryptoKey | undefined> {
    if (secret !== this.#secret) this.#key = this.#derive(secret);
    this.#secret = secret;
    return this.#key;
  }

  async #derive(secret: string): Promise<CryptoKey | undefined> {
    const { subtle, room } = this.#options;
    const bytes = readSecret(secret);
    if (bytes === undefined) return undefined;
    const key = await subtle.importKey('raw', bytes, 'HKDF', false, ['deriveKey']);
    const salt = encoder.encode(`parley ${room}`);
    const derivation = { name: 'HKDF', hash: 'SHA-256', salt, info: encoder.encode('parley data 1') };
    const usage = { name: 'AES-GCM', length: KEY_BITS };
    return subtle.deriveKey(derivation, key, usage, false, ['encrypt', 'decrypt']);
  }
}

const algorithm = (iv: Uint8Array<ArrayBuffer>, { from, to, number, text }: About): AesGcmParams => ({
  name: 'AES-GCM',
  iv,
  additionalData: encoder.encode(`${from} ${to} ${number} ${text ? 'text' : 'bytes'}`),
});
