/**
 * Follows the frames of a client (RFC 6455 §5.2) without storing bytes: how many fragments arrived, and whether a message or a frame is incomplete.
 * `ws` provides neither: its events report complete messages only, and the state of its receiver is private.
 */
export class FrameMeter {
  /** Bytes of the header that have arrived, 0 between frames. */
  #headerBytes = 0;
  #first = 0;
  /** Bytes of the length that have not arrived. */
  #lengthBytes = 0;
  #length = 0;
  /** Bytes of mask and payload that have not arrived. */
  #left = 0;
  #inMessage = false;
  #hasCompleted = false;

  /** A message, or a frame of one, has begun and is incomplete. */
  get isIncomplete(): boolean {
    return this.#inMessage || this.#headerBytes > 0;
  }

  /** Whether the last chunk completed a message. */
  get hasCompleted(): boolean {
    return this.#hasCompleted;
  }

  /** Returns the number of frames of messages in the chunk, except those that completed one. */
  read(chunk: Uint8Array): number {
    let fragments = 0;
    this.#hasCompleted = false;
    let at = 0;
    while (at < chunk.length) {
      if (this.#left === 0) {
        this.#header(chunk[at] ?? 0);
        at += 1;
        continue;
      }
      const taken = Math.min(this.#left, chunk.length - at);
      this.#left -= taken;
      at += taken;
      if (this.#left > 0) break;
      this.#headerBytes = 0;
      const isControl = (this.#first & 0x08) !== 0;
      const isLast = (this.#first & 0x80) !== 0;
      if (!isControl) this.#inMessage = !isLast;
      if (!isControl && !isLast) fragments += 1;
      // A ping between two fragments completes nothing.
      else if (!this.#inMessage) this.#hasCompleted = true;
    }
    return fragments;
  }

  #header(byte: number): void {
    this.#headerBytes += 1;
    if (this.#headerBytes === 1) {
      this.#first = byte;
      return;
    }
    if (this.#headerBytes === 2) {
      const length = byte & 0x7f;
      this.#lengthBytes = LENGTH_BYTES[length] ?? 0;
      this.#length = this.#lengthBytes === 0 ? length : 0;
    } else {
      this.#length = this.#length * 256 + byte;
      this.#lengthBytes -= 1;
    }
    if (this.#lengthBytes === 0) this.#left = MASK_BYTES + this.#length;
  }
}

/** How many bytes of extended length follow the seven bits. */
const LENGTH_BYTES: Readonly<Record<number, number>> = { 126: 2, 127: 8 };
/** Frames of a client are masked: `ws` closes the socket where one is not. */
const MASK_BYTES = 4;
