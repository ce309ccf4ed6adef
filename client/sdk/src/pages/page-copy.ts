/** The local copy of one page: manifest, chunks, and the decrypted content. SPEC rules PAGE-2 to PAGE-4. */
import type { PageContent, PageView } from './api.ts';
import { Chunks } from './chunks.ts';
import { sha256, type Manifest } from './manifest.ts';
import { PageCipher, TAG_BYTES, type PageHead } from './cipher.ts';

export class PageCopy {
  readonly manifest: Manifest;
  readonly chunks: Chunks;
  readonly #subtle: SubtleCrypto;
  #cipher: PageCipher | null = null;
  #state: NonNullable<PageView['encryption']>;
  #head: PageHead | null;
  /** The decrypted bytes of an encrypted page, once it is complete. */
  #decrypted: Uint8Array<ArrayBuffer> | null = null;
  /** The complete page was checked. */
  #good = false;
  #turn = 0;
  #unlocking: Promise<void> = Promise.resolve();

  private constructor(subtle: SubtleCrypto, manifest: Manifest, chunks: Chunks) {
    const { seal, type, name } = manifest.fields;
    this.#subtle = subtle;
    this.manifest = manifest;
    this.chunks = chunks;
    this.#state = seal === undefined ? 'none' : 'no-key';
    this.#head = seal === undefined ? { type, name: name ?? null } : null;
  }

  static none(subtle: SubtleCrypto, manifest: Manifest): PageCopy {
    return new PageCopy(subtle, manifest, Chunks.none(manifest.fields));
  }

  /** Takes ownership of the bytes from which the manifest was created. */
  static made(subtle: SubtleCrypto, manifest: Manifest, bytes: Uint8Array<ArrayBuffer>): PageCopy {
    const copy = new PageCopy(subtle, manifest, Chunks.all(manifest.fields, bytes));
    copy.#good = true;
    return copy;
  }

  get encryption(): NonNullable<PageView['encryption']> {
    return this.#state;
  }

  get head(): PageView['head'] {
    if (this.#head === null) return null;
    const { bytes, chunks, seal } = this.manifest.fields;
    const tags = seal === undefined ? 0 : TAG_BYTES * chunks.length;
    return { ...this.#head, bytes: Math.max(0, bytes - tags) };
  }

  /** Whether the bytes match the hash of the chunk. */
  async isChunk(chunk: number, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
    const { chunks } = this.manifest.fields;
    if (chunks[chunk] === undefined || bytes.length !== this.chunks.size(chunk)) return false;
    return (await sha256(this.#subtle, bytes)) === chunks[chunk];
  }

  /** Checks the page once every chunk is here. */
  async check(): Promise<boolean> {
    this.#good = (await sha256(this.#subtle, this.chunks.bytes)) === this.manifest.fields.sha256;
    return this.#good;
  }

  /** Sets the key; the last one counts. */
  async unlock(key: string | null): Promise<void> {
    this.#turn += 1;
    this.#unlocking = this.#try(key, this.#turn);
    await this.open();
  }

  /** Decrypts the page if it is complete, also while the key is still being derived. */
  async open(): Promise<void> {
    await this.#unlocking;
    if (this.#cipher === null || !this.#good || this.#decrypted !== null) return;
    const turn = this.#turn;
    const decrypted = await this.#cipher.decrypt(this.chunks.bytes, this.manifest.fields.chunkBytes);
    if (turn !== this.#turn) return;
    this.#decrypted = decrypted ?? null;
    this.#state = decrypted === undefined ? 'wrong-key' : 'open';
  }

  /** A copy that the caller owns. */
  content(): PageContent | null {
    const bytes = this.#state === 'none' ? this.chunks.bytes : this.#decrypted;
    if (!this.#good || bytes === null || this.#head === null) return null;
    return { ...this.#head, bytes: bytes.slice() };
  }

  async #try(key: string | null, turn: number): Promise<void> {
    const { seal } = this.manifest.fields;
    if (seal === undefined) return;
    const cipher = key === null ? undefined : await PageCipher.of(this.#subtle, key);
    const head = await cipher?.decryptHead(seal.head);
    if (turn !== this.#turn) return;
    this.#cipher = head === undefined ? null : (cipher ?? null);
    this.#head = head ?? null;
    if (head === undefined) {
      this.#decrypted = null;
      this.#state = key === null ? 'no-key' : 'wrong-key';
      // A complete page becomes readable once it can be decrypted.
    } else if (!this.#good || this.#decrypted !== null) this.#state = 'open';
  }
}
