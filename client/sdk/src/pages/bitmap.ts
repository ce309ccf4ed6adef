/** The set of chunks that a visitor has: one bit each, the first in the highest bit of the first byte. SPEC rule PAGE-16. */
import { fromBase64, toBase64 } from './base64.ts';

export class Bitmap {
  readonly of: number;
  #count = 0;
  readonly #bits: Uint8Array<ArrayBuffer>;

  constructor(of: number) {
    this.of = of;
    this.#bits = new Uint8Array(Math.ceil(of / 8));
  }

  get count(): number {
    return this.#count;
  }

  get full(): boolean {
    return this.#count === this.of;
  }

  /** Accepts any integer: shift operators use only 32 bits, so that numbers beyond the last chunk are checked first. */
  has(chunk: number): boolean {
    return chunk < this.of && ((this.#bits[chunk >> 3] ?? 0) & (0x80 >> (chunk & 7))) !== 0;
  }

  /** Returns whether the chunk is new. Numbers beyond the last chunk are ignored. */
  add(chunk: number): boolean {
    if (chunk >= this.of || this.has(chunk)) return false;
    this.#bits[chunk >> 3] = (this.#bits[chunk >> 3] ?? 0) | (0x80 >> (chunk & 7));
    this.#count += 1;
    return true;
  }

  remove(chunk: number): void {
    if (!this.has(chunk)) return;
    this.#bits[chunk >> 3] = (this.#bits[chunk >> 3] ?? 0) & ~(0x80 >> (chunk & 7));
    this.#count -= 1;
  }

  /** `false` if the text is not a bitmap; existing bits stay. */
  addAll(text: string): boolean {
    const bits = fromBase64(text);
    if (bits === undefined) return false;
    for (let chunk = 0; chunk < Math.min(this.of, 8 * bits.length); chunk += 1) {
      if (((bits[chunk >> 3] ?? 0) & (0x80 >> (chunk & 7))) !== 0) this.add(chunk);
    }
    return true;
  }

  toText(): string {
    return toBase64(this.#bits);
  }
}
