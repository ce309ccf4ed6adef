/**
 * The end-to-end encryption of a page. The key is in the fragment of the link, which browsers send to no server, and belongs to one page, so that
 * chunk numbers serve as nonces: AES-128-GCM, keys by HKDF-SHA-256. Hashes are computed from the encrypted bytes. SPEC rule PAGE-4.
 */
import { decode } from '@parley/protocol/decode';
import { PageManifest } from '@parley/protocol/pages';
import { Type } from 'typebox';
import { readSecret } from '../sfu/secret.ts';
import { fromBase64, toBase64 } from './base64.ts';

export const ENCRYPTION_SCHEME = 'AES-128-GCM';
/** An encrypted chunk is longer by this many bytes. */
export const TAG_BYTES = 16;
const NONCE_BYTES = 12;
/** The limit of the encrypted head, before base64url: its bound in the manifest. */
const HEAD_BYTES = 768;

export interface PageHead {
  readonly type: string;
  readonly name: string | null;
}

const { type, name } = PageManifest.properties;
const Head = Type.Object({ type, name });

export class PageCipher {
  readonly #subtle: SubtleCrypto;
  readonly #chunks: CryptoKey;
  readonly #head: CryptoKey;

  private constructor(subtle: SubtleCrypto, chunks: CryptoKey, head: CryptoKey) {
    this.#subtle = subtle;
    this.#chunks = chunks;
    this.#head = head;
  }

  /** `key`: 16 bytes in base64url; returns `undefined` for any other text. */
  static async of(subtle: SubtleCrypto, key: string): Promise<PageCipher | undefined> {
    const secret = readSecret(key);
    if (secret === undefined) return undefined;
    const root = await subtle.importKey('raw', secret, 'HKDF', false, ['deriveKey']);
    const derive = async (info: string): Promise<CryptoKey> =>
      subtle.deriveKey(
        { name: 'HKDF', hash: 'SHA-256', salt: utf8('parley page 1'), info: utf8(info) },
        root,
        { name: 'AES-GCM', length: 128 },
        false,
        ['encrypt', 'decrypt'],
      );
    return new PageCipher(subtle, await derive('chunks'), await derive('head'));
  }

  /** `chunkBytes`: the size of an encrypted chunk. */
  async encrypt(bytes: Uint8Array<ArrayBuffer>, chunkBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const encrypted = new Uint8Array(encryptedBytes(bytes.length, chunkBytes));
    const step = chunkBytes - TAG_BYTES;
    for (let chunk = 0; chunk * step < bytes.length; chunk += 1) {
      const plain = bytes.subarray(chunk * step, (chunk + 1) * step);
      const one = await this.#subtle.encrypt(parameters(chunk), this.#chunks, plain);
      encrypted.set(new Uint8Array(one), chunk * chunkBytes);
    }
    return encrypted;
  }

  /** `undefined` where it was not encrypted with this key. */
  async decrypt(
    encrypted: Uint8Array<ArrayBuffer>,
    chunkBytes: number,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const chunks = Math.ceil(encrypted.length / chunkBytes);
    const bytes = new Uint8Array(Math.max(0, encrypted.length - chunks * TAG_BYTES));
    try {
      for (let chunk = 0; chunk < chunks; chunk += 1) {
        const one = encrypted.subarray(chunk * chunkBytes, (chunk + 1) * chunkBytes);
        const plain = await this.#subtle.decrypt(parameters(chunk), this.#chunks, one);
        bytes.set(new Uint8Array(plain), chunk * (chunkBytes - TAG_BYTES));
      }
    } catch {
      return undefined;
    }
    return bytes;
  }

  /** `undefined` if the name is too long. */
  async encryptHead({ type, name }: PageHead): Promise<string | undefined> {
    const plain = utf8(JSON.stringify(name === null ? { type } : { type, name }));
    if (plain.length + TAG_BYTES > HEAD_BYTES) return undefined;
    return toBase64(new Uint8Array(await this.#subtle.encrypt(parameters(0), this.#head, plain)));
  }

  /** `undefined` where it was not encrypted with this key. */
  async decryptHead(head: string): Promise<PageHead | undefined> {
    const encrypted = fromBase64(head);
    if (encrypted === undefined) return undefined;
    try {
      const plain = await this.#subtle.decrypt(parameters(0), this.#head, encrypted);
      const decoded = decode(Head, JSON.parse(new TextDecoder().decode(plain)));
      return decoded.ok ? { type: decoded.message.type, name: decoded.message.name ?? null } : undefined;
    } catch {
      return undefined;
    }
  }
}

/** The size of this many bytes after encryption in chunks of this size. */
export const encryptedBytes = (bytes: number, chunkBytes: number): number =>
  bytes + TAG_BYTES * Math.ceil(bytes / (chunkBytes - TAG_BYTES));

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function parameters(chunk: number): AesGcmParams {
  const iv = new DataView(new ArrayBuffer(NONCE_BYTES));
  iv.setUint32(NONCE_BYTES - 4, chunk);
  return { name: 'AES-GCM', iv: iv.buffer, tagLength: 8 * TAG_BYTES };
}
