/** What pages of a call keep to themselves, where a test can compare it with what a relay has: what they encode, and the keys of those whom they hear. */
import type { Page } from 'playwright-core';
import type { Recorded } from './media-relay.ts';

interface PageScope {
  /** Base64. */
  readonly parleyEncoded: string[];
  readonly parleyFrameKeys: Map<CryptoKey, Uint8Array>;
}

/** Packets and pictures as the page encoded them, before they are encrypted. The page runs `noteEncoded`. */
export async function encodedBy(page: Page): Promise<Buffer[]> {
  const encoded = await page.evaluate(() => (globalThis as unknown as PageScope).parleyEncoded);
  return encoded.map((text) => Buffer.from(text, 'base64'));
}

/** How many of these frames open with a key that the page has had. The page runs `keepFrameKeys`. */
export function opensWithKeysOf(page: Page, frames: readonly Recorded[]): Promise<number> {
  const texts = frames.map(({ frame }) => Buffer.from(frame.payload).toString('base64'));
  return page.evaluate(openWithKeptKeys, texts);
}

/** Runs in the page, before its scripts: keeps the newest of what its encoders give. */
export function noteEncoded(): void {
  const most = 1500;
  /** Silence is a few bytes, which anything may contain. */
  const least = 24;
  const encoded: string[] = [];
  Object.assign(globalThis, { parleyEncoded: encoded });
  const note = (chunk: EncodedVideoChunk | EncodedAudioChunk): void => {
    if (chunk.byteLength < least) return;
    if (encoded.length >= most) encoded.shift();
    const bytes = new Uint8Array(chunk.byteLength);
    chunk.copyTo(bytes);
    encoded.push(btoa(String.fromCharCode(...bytes)));
  };
  const [Video, Audio] = [globalThis.VideoEncoder, globalThis.AudioEncoder];
  globalThis.VideoEncoder = class extends Video {
    constructor({ output, error }: VideoEncoderInit) {
      super({ error, output: (chunk, metadata) => (note(chunk), output(chunk, metadata)) });
    }
  };
  globalThis.AudioEncoder = class extends Audio {
    constructor({ output, error }: AudioEncoderInit) {
      super({ error, output: (chunk, metadata) => (note(chunk), output(chunk, metadata)) });
    }
  };
}

/** Runs in the page, before its scripts: keeps each key under which it decrypts a frame, with its salt (RFC 9605, 4.4.3). */
export function keepFrameKeys(): void {
  const keys = new Map<CryptoKey, Uint8Array>();
  Object.assign(globalThis, { parleyFrameKeys: keys });
  const { subtle } = crypto;
  const decrypt = subtle.decrypt.bind(subtle);
  /** The counter in a header, as the last eight bytes of an IV. */
  const counterIn = (header: Uint8Array): Uint8Array => {
    const config = header[0] ?? 0;
    const kidBytes = config >> 7 === 1 ? ((config >> 4) & 7) + 1 : 0;
    const isLong = ((config >> 3) & 1) === 1;
    const counter = isLong
      ? header.slice(1 + kidBytes, 1 + kidBytes + (config & 7) + 1)
      : Uint8Array.of(config & 7);
    const whole = new Uint8Array(8);
    whole.set(counter, 8 - counter.length);
    return whole;
  };
  const keeping: typeof decrypt = (parameters, key, data) => {
    const { iv, additionalData } = parameters as AesGcmParams;
    if (additionalData instanceof Uint8Array && iv instanceof Uint8Array && !keys.has(key)) {
      const salt = iv.slice();
      for (const [at, byte] of counterIn(additionalData).entries())
        salt[iv.length - 8 + at] = (salt[iv.length - 8 + at] ?? 0) ^ byte;
      keys.set(key, salt);
    }
    return decrypt(parameters, key, data);
  };
  Object.defineProperty(subtle, 'decrypt', { value: keeping });
}

/** Runs in the page. `frames`: a time, a QUIC variable-length integer, and an SFrame, in base64. */
async function openWithKeptKeys(frames: readonly string[]): Promise<number> {
  const { parleyFrameKeys: keys } = globalThis as unknown as PageScope;
  const tagBits = 128;
  let opened = 0;
  for (const text of frames) {
    const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
    const timeBytes = 2 ** ((bytes[0] ?? 0) >> 6);
    const sealed = bytes.subarray(timeBytes);
    const config = sealed[0] ?? 0;
    const kidBytes = config >> 7 === 1 ? ((config >> 4) & 7) + 1 : 0;
    const counterBytes = ((config >> 3) & 1) === 1 ? (config & 7) + 1 : 0;
    const length = 1 + kidBytes + counterBytes;
    const counter = counterBytes > 0 ? sealed.subarray(1 + kidBytes, length) : Uint8Array.of(config & 7);
    const additionalData = new Uint8Array([...sealed.subarray(0, length), ...bytes.subarray(0, timeBytes)]);
    for (const [key, salt] of keys) {
      const iv = new Uint8Array(salt);
      const from = iv.length - counter.length;
      for (const [at, byte] of counter.entries()) iv[from + at] = (iv[from + at] ?? 0) ^ byte;
      const parameters = { name: 'AES-GCM', iv, additionalData, tagLength: tagBits };
      const plain = await crypto.subtle
        .decrypt(parameters, key, new Uint8Array(sealed.subarray(length)))
        .catch(() => null);
      if (plain !== null) opened += 1;
    }
  }
  return opened;
}
