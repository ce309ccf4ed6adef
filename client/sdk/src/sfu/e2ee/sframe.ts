/** SFrame (RFC 9605) with the cipher suite AES_128_GCM_SHA256_128, by WebCrypto. */
import { joined } from '../frames.ts';

const SUITE = 4;
const KEY_BITS = 128;
const SALT_BITS = 96;
const TAG_BYTES = 16;
/** From this number on it has bytes of its own in the header, up to `NUMBER_BYTES`. */
const LONG = 8;
const NUMBER_BYTES = 8;

const text = new TextEncoder();

/** The key and the salt of one key id (RFC 9605, 4.4.2). */
export interface SFrameKey {
  readonly kid: number;
  readonly key: CryptoKey;
  readonly salt: Uint8Array;
}

export interface SFrameHeader {
  readonly kid: number;
  readonly counter: number;
  /** In bytes. */
  readonly length: number;
}

/** `base`: the base key, imported for HKDF. `kid`: up to 2^53 - 1. */
export async function sframeKey(subtle: SubtleCrypto, base: CryptoKey, kid: number): Promise<SFrameKey> {
  const derivation = (what: string): HkdfParams => ({
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(),
    info: label(`SFrame 1.0 Secret ${what} `, kid),
  });
  const algorithm = { name: 'AES-GCM', length: KEY_BITS };
  const [key, salt] = await Promise.all([
    subtle.deriveKey(derivation('key'), base, algorithm, false, ['encrypt', 'decrypt']),
    subtle.deriveBits(derivation('salt'), base, SALT_BITS),
  ]);
  return { kid, key, salt: new Uint8Array(salt) };
}

/** Header, ciphertext and tag. A counter is used once with a key. `metadata`: authenticated, and not part of the answer. */
export async function sealSFrame(
  subtle: SubtleCrypto,
  { kid, key, salt }: SFrameKey,
  counter: number,
  { metadata, payload }: { readonly metadata: Uint8Array; readonly payload: Uint8Array<ArrayBuffer> },
): Promise<Uint8Array<ArrayBuffer>> {
  const header = writeHeader(kid, counter);
  const parameters = gcm(salt, counter, joined(header, metadata));
  return joined(header, new Uint8Array(await subtle.encrypt(parameters, key, payload)));
}

/** `undefined` for what was not sealed with this key and metadata. Never throws. */
export async function openSFrame(
  subtle: SubtleCrypto,
  { key, salt }: SFrameKey,
  { counter, length }: SFrameHeader,
  { metadata, sealed }: { readonly metadata: Uint8Array; readonly sealed: Uint8Array<ArrayBuffer> },
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const parameters = gcm(salt, counter, joined(sealed.subarray(0, length), metadata));
  try {
    return new Uint8Array(await subtle.decrypt(parameters, key, sealed.subarray(length)));
  } catch {
    return undefined;
  }
}

/** `undefined` for bytes that are no header with a tag after it, and for numbers over 2^53 - 1. Never throws. */
export function readHeader(bytes: Uint8Array): SFrameHeader | undefined {
  const config = bytes[0] ?? 0;
  const kid = readNumber(bytes, 1, config >> 4);
  const counter = readNumber(bytes, 1 + kid.length, config & 0b1111);
  const length = 1 + kid.length + counter.length;
  const isWhole = bytes.byteLength >= length + TAG_BYTES;
  const isSafe = Number.isSafeInteger(kid.value) && Number.isSafeInteger(counter.value);
  return isWhole && isSafe ? { kid: kid.value, counter: counter.value, length } : undefined;
}

function writeHeader(kid: number, counter: number): Uint8Array {
  const [kidCode, kidBytes] = writeNumber(kid);
  const [counterCode, counterBytes] = writeNumber(counter);
  return Uint8Array.of((kidCode << 4) | counterCode, ...kidBytes, ...counterBytes);
}

/** A number below eight is in its four bits of the first byte; otherwise they have its length. */
function writeNumber(value: number): [code: number, bytes: Uint8Array] {
  if (value < LONG) return [value, new Uint8Array()];
  const all = uint64(value);
  const bytes = all.subarray(all.findIndex((byte) => byte !== 0));
  return [LONG | (bytes.byteLength - 1), bytes];
}

function readNumber(bytes: Uint8Array, at: number, code: number): { value: number; length: number } {
  if (code < LONG) return { value: code, length: 0 };
  const length = (code & 0b111) + 1;
  const value = bytes.subarray(at, at + length).reduce((sum, byte) => sum * 256 + byte, 0);
  return { value, length };
}

/** The salt with the counter added by XOR (RFC 9605, 4.4.3). */
function gcm(salt: Uint8Array, counter: number, additionalData: Uint8Array<ArrayBuffer>): AesGcmParams {
  const iv = new Uint8Array(salt);
  const at = iv.byteLength - NUMBER_BYTES;
  for (const [index, byte] of uint64(counter).entries()) iv[at + index] = (iv[at + index] ?? 0) ^ byte;
  return { name: 'AES-GCM', iv, additionalData, tagLength: 8 * TAG_BYTES };
}

const label = (what: string, kid: number): Uint8Array<ArrayBuffer> =>
  joined(text.encode(what), uint64(kid), Uint8Array.of(0, SUITE));

function uint64(value: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(NUMBER_BYTES));
  view.setBigUint64(0, BigInt(value));
  return new Uint8Array(view.buffer);
}
