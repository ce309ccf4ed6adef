/**
 * One frame as it travels: its time in microseconds (QUIC variable-length integer), then what the codec made, as hang's `legacy` container
 * has it. An empty payload is a mark: nothing more comes until the next group, as nobody speaks.
 */
import { Varint } from '@moq/net';

export interface Frame {
  /** On the publisher's clock, in microseconds. */
  readonly timestamp: number;
  readonly payload: Uint8Array;
}

/** A key frame of a shared screen in full HD is a tenth of it. */
const MOST_BYTES = 4 * 1024 * 1024;

/** Of a frame beside its payload: a fragment of `cmaf` can have thousands of samples that are empty. */
const FRAME_BYTES = 256;

/** What it takes to hold them, about. */
export function bytesOf(frames: readonly Frame[]): number {
  return frames.reduce((sum, { payload }) => sum + payload.byteLength + FRAME_BYTES, 0);
}

export function encodeFrame({ timestamp, payload }: Frame): Uint8Array<ArrayBuffer> {
  return joinFrame(Varint.encode(Math.round(timestamp)), payload);
}

/** `time`: encoded already. */
export function joinFrame(time: Uint8Array, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(time.byteLength + payload.byteLength);
  bytes.set(time);
  bytes.set(payload, time.byteLength);
  return bytes;
}

/** `undefined` for whatever is not a frame. Never throws. */
export function decodeFrame(bytes: Uint8Array): Frame | undefined {
  if (bytes.byteLength === 0 || bytes.byteLength > MOST_BYTES) return undefined;
  try {
    const [timestamp, payload] = Varint.decode(bytes);
    // Above it a number is another one, and decoders throw.
    return Number.isSafeInteger(timestamp) ? { timestamp, payload } : undefined;
  } catch {
    return undefined;
  }
}
