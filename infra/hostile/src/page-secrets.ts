/** What pages of a call keep to themselves, where a test can compare it with what a relay has: what they encode, and the keys of those whom they hear. */
import type { Page } from 'playwright-core';
import type { Recorded } from './media-relay.ts';

interface PageScope {
  /** Base64. */
  readonly parleyEncoded: string[];
  readonly parleyFrameKeys: Map<CryptoKey, KeptUse>;
}

/** With what a key decrypted a frame. */
interface KeptUse {
  readonly iv: Uint8Array;
  /** The header of the SFrame, and what was authenticated with it. */
  readonly header: Uint8Array;
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

/** Runs in the page, before its scripts: keeps each key under which it decrypts a frame, and the first such decryption. */
export function keepFrameKeys(): void {
  const keys = new Map<CryptoKey, KeptUse>();
  Object.assign(globalThis, { parleyFrameKeys: keys });
  const { subtle } = crypto;
  const decrypt = subtle.decrypt.bind(subtle);
  const keeping: typeof decrypt = (parameters, key, data) => {
    const { iv, additionalData } = parameters as AesGcmParams;
    if (additionalData instanceof Uint8Array && iv instanceof Uint8Array && !keys.has(key))
      keys.set(key, { iv: iv.slice(), header: additionalData.slice() });
    return decrypt(parameters, key, data);
  };
  Object.defineProperty(subtle, 'decrypt', { value: keeping });
}

/** Runs in the page. `frames`: a time, a QUIC variable-length integer, and an SFrame, in base64. */
async function openWithKeptKeys(frames: readonly string[]): Promise<number> {
  const { parleyFrameKeys: keys } = globalThis as unknown as PageScope;
  /** The length of an SFrame header, and its counter (RFC 9605, 4.3). */
  const headerOf = (bytes: Uint8Array): { readonly length: number; readonly counter: Uint8Array } => {
    const config = bytes[0] ?? 0;
    const kidBytes = config >> 7 === 1 ? ((config >> 4) & 7) + 1 : 0;
    const isLong = ((config >> 3) & 1) === 1;
    const length = 1 + kidBytes + (isLong ? (config & 7) + 1 : 0);
    return { length, counter: isLong ? bytes.slice(1 + kidBytes, length) : Uint8Array.of(config & 7) };
  };
  /** An IV is the salt of the key and the counter (4.4.3): with both counters that of one frame gives that of another. */
  const withCounter = (iv: Uint8Array, counter: Uint8Array): Uint8Array<ArrayBuffer> => {
    const made = new Uint8Array(iv);
    const from = iv.length - counter.length;
    for (const [at, byte] of counter.entries()) made[from + at] = (made[from + at] ?? 0) ^ byte;
    return made;
  };
  let opened = 0;
  for (const text of frames) {
    const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
    const timeBytes = 2 ** ((bytes[0] ?? 0) >> 6);
    const sealed = bytes.slice(timeBytes);
    const { length, counter } = headerOf(sealed);
    const additionalData = new Uint8Array([...sealed.subarray(0, length), ...bytes.subarray(0, timeBytes)]);
    for (const [key, { iv, header }] of keys) {
      const own = withCounter(withCounter(iv, headerOf(header).counter), counter);
      const plain = await crypto.subtle
        .decrypt({ name: 'AES-GCM', iv: own, additionalData }, key, sealed.slice(length))
        .catch(() => null);
      if (plain !== null) opened += 1;
    }
  }
  return opened;
}
