/** The bytes of a page in one buffer, filled as chunks are checked. */
import type { PageManifest } from '@parley/protocol/pages';
import { Bitmap } from './bitmap.ts';

export class Chunks {
  readonly here: Bitmap;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly #chunkBytes: number;

  private constructor({ chunkBytes, chunks }: PageManifest, bytes: Uint8Array<ArrayBuffer>) {
    this.here = new Bitmap(chunks.length);
    this.bytes = bytes;
    this.#chunkBytes = chunkBytes;
  }

  static none(fields: PageManifest): Chunks {
    return new Chunks(fields, new Uint8Array(fields.bytes));
  }

  /** Takes ownership of the bytes. */
  static all(fields: PageManifest, bytes: Uint8Array<ArrayBuffer>): Chunks {
    const chunks = new Chunks(fields, bytes);
    for (let chunk = 0; chunk < fields.chunks.length; chunk += 1) chunks.here.add(chunk);
    return chunks;
  }

  size(chunk: number): number {
    return Math.min(this.#chunkBytes, this.bytes.length - chunk * this.#chunkBytes);
  }

  put(chunk: number, bytes: Uint8Array): void {
    this.bytes.set(bytes, chunk * this.#chunkBytes);
    this.here.add(chunk);
  }

  /** A view; `undefined` if the chunk is missing. */
  get(chunk: number): Uint8Array<ArrayBuffer> | undefined {
    if (!this.here.has(chunk)) return undefined;
    const at = chunk * this.#chunkBytes;
    return this.bytes.subarray(at, at + this.size(chunk));
  }
}
