/**
 * Follows the frames of a client (RFC 6455 §5.2) through its bytes, without keeping any: how many fragments came, and whether a message or
 * a frame is incomplete. `ws` says neither: its events tell of complete messages only, and what its receiver holds is private to it.
 */
export class FrameMeter {
  /** Bytes of the header so far, 0 between frames. */
  #headerBytes = 0;
  #first = 0;
  /** Of the length, still to come. */
  #lengthBytes = 0;
  #length = 0;
  /** Of mask and payload, still to come. */
  #left = 0;
  #inMessage = false;
  #hasCompleted = false;

  /** A message, or a frame of one, has begun and is not complete. */
  get isIncomplete(): boolean {
    return this.#inMessage || this.#headerBytes > 0;
  }

  /** Whether the last chunk completed a message. */
  get hasCompleted(): boolean {
    return this.#hasCompleted;
  }

  /** The number of frames of messages in the chunk, without those that completed one. */
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

/** Where the seven bits of the length say that the length follows. */
const LENGTH_BYTES: Readonly<Record<number, number>> = { 126: 2, 127: 8 };
/** A client's frames are masked: `ws` has closed the socket where one is not. */
const MASK_BYTES = 4;
