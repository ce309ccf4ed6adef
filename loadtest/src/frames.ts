/** WebSocket frames read from raw bytes (RFC 6455, section 5.2): no fragments, no extensions, as the bench's peers send none. */

/** The payload is `bytes[start, end)`, unmasked; it is valid during the call only. */
export type OnFrame = (opcode: number, bytes: Buffer, start: number, end: number) => void;

export const TEXT = 1;
export const BINARY = 2;
export const CLOSE = 8;
export const PING = 9;
export const PONG = 10;

export class FrameReader {
  #rest: Buffer | undefined;

  /** Calls `onFrame` for each whole frame and keeps the rest. `false` where the bytes are no frames we take. */
  feed(chunk: Buffer, onFrame: OnFrame): boolean {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = undefined;
    let at = 0;
    for (;;) {
      const size = headSize(bytes, at);
      if (size === undefined) break;
      const first = bytes[at] ?? 0;
      if ((first & 0xf0) !== 0x80) return false;
      const end = at + size + payloadLength(bytes, at);
      if (end > bytes.length) break;
      const start = at + size;
      if (isMasked(bytes, at)) unmask(bytes, start, end);
      at = end;
      onFrame(first & 0x0f, bytes, start, end);
    }
    if (at < bytes.length) this.#rest = Buffer.from(bytes.subarray(at));
    return true;
  }
}

const isMasked = (bytes: Buffer, at: number): boolean => ((bytes[at + 1] ?? 0) & 0x80) !== 0;

/** Bytes before the payload; `undefined` while they have not all come. */
function headSize(bytes: Buffer, at: number): number | undefined {
  if (bytes.length - at < 2) return undefined;
  const code = (bytes[at + 1] ?? 0) & 0x7f;
  const size = 2 + (code === 126 ? 2 : code === 127 ? 8 : 0) + (isMasked(bytes, at) ? 4 : 0);
  return bytes.length - at < size ? undefined : size;
}

function payloadLength(bytes: Buffer, at: number): number {
  const code = (bytes[at + 1] ?? 0) & 0x7f;
  if (code < 126) return code;
  return code === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
}

/** The mask is directly before the payload. */
function unmask(bytes: Buffer, start: number, end: number): void {
  const mask0 = bytes[start - 4] ?? 0;
  const mask1 = bytes[start - 3] ?? 0;
  const mask2 = bytes[start - 2] ?? 0;
  const mask3 = bytes[start - 1] ?? 0;
  const whole = start + ((end - start) & ~3);
  let at = start;
  for (; at < whole; at += 4) {
    bytes[at] = (bytes[at] ?? 0) ^ mask0;
    bytes[at + 1] = (bytes[at + 1] ?? 0) ^ mask1;
    bytes[at + 2] = (bytes[at + 2] ?? 0) ^ mask2;
    bytes[at + 3] = (bytes[at + 3] ?? 0) ^ mask3;
  }
  const mask = [mask0, mask1, mask2] as const;
  for (let rest = 0; at < end; at += 1, rest += 1) bytes[at] = (bytes[at] ?? 0) ^ (mask[rest] ?? 0);
}

/** Writes the head of an unfragmented frame without a mask bit; answers where the payload starts. */
export function writeHead(
  into: Buffer,
  at: number,
  opcode: number,
  length: number,
  maskBit: 0 | 0x80,
): number {
  into[at] = 0x80 | opcode;
  if (length < 126) {
    into[at + 1] = maskBit | length;
    return at + 2;
  }
  if (length > 0xffff) {
    into[at + 1] = maskBit | 127;
    into.writeBigUInt64BE(BigInt(length), at + 2);
    return at + 10;
  }
  into[at + 1] = maskBit | 126;
  into.writeUInt16BE(length, at + 2);
  return at + 4;
}
