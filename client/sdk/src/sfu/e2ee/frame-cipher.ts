/** Encrypts and decrypts the frames of one track: the time stays in the clear and is authenticated, the rest is SFrame. SPEC rule MEDIA-16. */
import { decodeFrame, joined } from '../frames.ts';
import { openSFrame, readHeader, sealSFrame, type SFrameHeader, type SFrameKey } from './sframe.ts';

/** A group has at most ten seconds of frames. */
const FRAMES_PER_GROUP = 2 ** 16;

export interface FrameSealer {
  /** Rejects for a place that has no counter. A place is used once. */
  encrypt(group: number, index: number, frame: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
}

export interface FrameOpener {
  /** `undefined` for frames that were not encrypted by the sender for this place. Never throws. */
  decrypt(group: number, index: number, frame: Uint8Array): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

/** `key`: of the track, under which the sender encrypts now. */
export function frameSealer(subtle: SubtleCrypto, key: () => Promise<SFrameKey>): FrameSealer {
  return {
    async encrypt(group, index, frame) {
      const counter = counterOf(group, index);
      if (counter === undefined) throw new Error('the group has too many frames');
      const { time, payload } = split(frame);
      return joined(time, await sealSFrame(subtle, await key(), counter, { metadata: time, payload }));
    },
  };
}

export interface OpenerOptions {
  readonly subtle: SubtleCrypto;
  /** Frames of this counter and before are refused. */
  readonly after: number;
  /** Of the track, by its id; `undefined`: there is none, and none came. */
  readonly key: (kid: number) => Promise<SFrameKey | undefined>;
  readonly onOpened: (header: SFrameHeader) => void;
}

export function frameOpener({ subtle, after, key, onOpened }: OpenerOptions): FrameOpener {
  return {
    async decrypt(group, index, frame) {
      if (decodeFrame(frame) === undefined) return undefined;
      const { time, payload: sealed } = split(frame.slice());
      const header = readHeader(sealed);
      // A frame in another place has another counter.
      if (header === undefined || header.counter !== counterOf(group, index)) return undefined;
      if (header.counter <= after) return undefined;
      const found = await key(header.kid);
      const opened = found && (await openSFrame(subtle, found, header, { metadata: time, sealed }));
      if (opened === undefined) return undefined;
      onOpened(header);
      return joined(time, opened);
    },
  };
}

function counterOf(group: number, index: number): number | undefined {
  const counter = group * FRAMES_PER_GROUP + index;
  return index < FRAMES_PER_GROUP && Number.isSafeInteger(counter) ? counter : undefined;
}

/** Splits a frame into its time, a QUIC variable-length integer whose first two bits give its length, and the rest. */
function split(frame: Uint8Array<ArrayBuffer>): {
  time: Uint8Array<ArrayBuffer>;
  payload: Uint8Array<ArrayBuffer>;
} {
  const length = 2 ** ((frame[0] ?? 0) >> 6);
  return { time: frame.subarray(0, length), payload: frame.subarray(length) };
}
