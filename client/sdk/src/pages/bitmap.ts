/** Which chunks somebody has: a bit for each, the first in the highest bit of the first byte. SPEC rule PAGE-16. */
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

  /** Any whole number: shifts take 32 bits of one, so what is beyond the last is sorted out first. */
  has(chunk: number): boolean {
    return chunk < this.of && ((this.#bits[chunk >> 3] ?? 0) & (0x80 >> (chunk & 7))) !== 0;
  }

  /** Whether that is new. What is beyond the last is left out. */
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

  /** `false` where the text is none; what is there already stays. */
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
