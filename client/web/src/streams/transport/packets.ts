/** Splits a byte stream into MPEG-TS packets (ISO/IEC 13818-1, 2.4.3), independent of message boundaries. */

export const PACKET_BYTES = 188;
const SYNC = 0x47;
/** This many sync bytes in a row are not random: one in 16 million by chance. */
const SYNC_PACKETS = 3;

/** Whether a message could be MPEG-TS, also one that begins in the middle of a packet. */
export function looksLikeMpegTs(bytes: Uint8Array): boolean {
  if (bytes.length < SYNC_PACKETS * PACKET_BYTES)
    return bytes.length >= PACKET_BYTES && bytes.length % PACKET_BYTES === 0 && isSync(bytes, 0);
  return findSync(bytes, 0) >= 0;
}

export class Packets {
  #rest: Uint8Array = new Uint8Array();
  #synced = false;

  /** Returns complete packets, in views of one or more each. Other bytes are skipped. */
  push(bytes: Uint8Array): readonly Uint8Array[] {
    const all = this.#rest.length > 0 ? joined(this.#rest, bytes) : bytes;
    const runs: Uint8Array[] = [];
    let at = 0;
    for (;;) {
      if (!this.#synced) {
        const found = findSync(all, at);
        if (found < 0) {
          // A row may begin in the last bytes, but not before them.
          at = Math.max(at, all.length - SYNC_PACKETS * PACKET_BYTES);
          break;
        }
        at = found;
        this.#synced = true;
      }
      const end = endOfSync(all, at);
      if (end > at) runs.push(all.subarray(at, end));
      at = end;
      if (all.length - at < PACKET_BYTES) break;
      this.#synced = false;
    }
    this.#rest = all.slice(at);
    return runs;
  }
}

function endOfSync(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at + PACKET_BYTES <= bytes.length && bytes[at] === SYNC) at += PACKET_BYTES;
  return at;
}

function findSync(bytes: Uint8Array, from: number): number {
  for (let at = from; at + (SYNC_PACKETS - 1) * PACKET_BYTES < bytes.length; at++)
    if (isSync(bytes, at)) return at;
  return -1;
}

function isSync(bytes: Uint8Array, from: number): boolean {
  const end = Math.min(bytes.length, from + SYNC_PACKETS * PACKET_BYTES);
  for (let at = from; at < end; at += PACKET_BYTES) if (bytes[at] !== SYNC) return false;
  return true;
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export interface Packet {
  readonly pid: number;
  /** A section or a frame begins here. */
  readonly starts: boolean;
  readonly counter: number;
  readonly payload: Uint8Array;
  /** The program clock reference, in seconds. */
  readonly clock: number | null;
}

/** Reads 188 bytes; a broken adaptation field leaves an empty payload. */
export function readPacket(bytes: Uint8Array): Packet {
  const byte = (at: number): number => bytes[at] ?? 0;
  const control = (byte(3) >> 4) & 3;
  const adaptation = control & 2 ? byte(4) + 1 : 0;
  const hasClock = adaptation >= 8 && (byte(5) & 0x10) !== 0;
  return {
    pid: ((byte(1) & 0x1f) << 8) | byte(2),
    starts: (byte(1) & 0x40) !== 0,
    counter: byte(3) & 0xf,
    payload: control & 1 ? bytes.subarray(4 + adaptation) : bytes.subarray(PACKET_BYTES),
    clock: hasClock
      ? (byte(6) * 2 ** 25 + byte(7) * 2 ** 17 + byte(8) * 2 ** 9 + byte(9) * 2 + (byte(10) >> 7)) / 90_000
      : null,
  };
}
