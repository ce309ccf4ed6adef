/**
 * One frame on the wire: its time in microseconds (QUIC variable-length integer), then the encoded payload, as in hang's container `legacy`. An
 * empty payload is a mark: nothing follows until the next group, because there is silence.
 */
import { Varint } from '@moq/net';

export interface Frame {
  /** On the clock of the publisher, in microseconds. */
  readonly timestamp: number;
  readonly payload: Uint8Array;
}

/** A key frame of a shared screen in full HD is a tenth of this. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The memory of a frame without its payload: a fragment of `cmaf` can have thousands of empty samples. */
const FRAME_BYTES = 256;

/** The approximate memory of the frames. */
export function bytesOf(frames: readonly Frame[]): number {
  return frames.reduce((sum, { payload }) => sum + payload.byteLength + FRAME_BYTES, 0);
}

export function encodeFrame({ timestamp, payload }: Frame): Uint8Array<ArrayBuffer> {
  return joined(Varint.encode(Math.round(timestamp)), payload);
}

/** One after the other, as a copy. */
export function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.byteLength;
  }
  return all;
}

/** `undefined` for data that is not a frame. Never throws. */
export function decodeFrame(bytes: Uint8Array): Frame | undefined {
  if (bytes.byteLength === 0 || bytes.byteLength > MAX_BYTES) return undefined;
  try {
    const [timestamp, payload] = Varint.decode(bytes);
    // Numbers above this lose precision, and decoders throw.
    return Number.isSafeInteger(timestamp) ? { timestamp, payload } : undefined;
  } catch {
    return undefined;
  }
}
