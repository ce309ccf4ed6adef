/** The local copy of one page: manifest, chunks, and the decrypted content. SPEC rules PAGE-2 to PAGE-4. */
import type { PageContent, PageView } from './api.ts';
import { Chunks } from './chunks.ts';
import { sha256, type Manifest } from './manifest.ts';
import { PageSeal, TAG_BYTES, type PageHead } from './seal.ts';

export class PageCopy {
  readonly manifest: Manifest;
  readonly chunks: Chunks;
  readonly #subtle: SubtleCrypto;
  #seal: PageSeal | null = null;
  #state: NonNullable<PageView['seal']>;
  #head: PageHead | null;
  /** The decrypted bytes of an encrypted page, once it is complete. */
  #opened: Uint8Array<ArrayBuffer> | null = null;
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

  get seal(): NonNullable<PageView['seal']> {
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
    if (this.#seal === null || !this.#good || this.#opened !== null) return;
    const turn = this.#turn;
    const opened = await this.#seal.open(this.chunks.bytes, this.manifest.fields.chunkBytes);
    if (turn !== this.#turn) return;
    this.#opened = opened ?? null;
    this.#state = opened === undefined ? 'wrong-key' : 'open';
  }

  /** A copy that the caller owns. */
  content(): PageContent | null {
    const bytes = this.#state === 'none' ? this.chunks.bytes : this.#opened;
    if (!this.#good || bytes === null || this.#head === null) return null;
    return { ...this.#head, bytes: bytes.slice() };
  }

  async #try(key: string | null, turn: number): Promise<void> {
    const { seal } = this.manifest.fields;
    if (seal === undefined) return;
    const made = key === null ? undefined : await PageSeal.of(this.#subtle, key);
    const head = await made?.openHead(seal.head);
    if (turn !== this.#turn) return;
    this.#seal = head === undefined ? null : (made ?? null);
    this.#head = head ?? null;
    if (head === undefined) {
      this.#opened = null;
      this.#state = key === null ? 'no-key' : 'wrong-key';
      // A complete page becomes readable once it can be decrypted.
    } else if (!this.#good || this.#opened !== null) this.#state = 'open';
  }
}
