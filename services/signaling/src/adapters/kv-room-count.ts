/**
 * How many named rooms the region has, as a pod knows it: counted by the store at most once in `COUNT_EVERY_MS`, and in between by what this pod
 * creates. Several pods together may exceed the limit by what they create in that time. SPEC rule ROOM-12.
 */
import type { KV } from '@nats-io/kv';

const COUNT_EVERY_MS = 2000;

export class RoomCount {
  readonly #max: number;
  #count = 0;
  #countedAt = -Infinity;
  #counting: Promise<void> | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  /** Reserves a place for one room, where there is one. */
  async take(kv: KV): Promise<boolean> {
    if (performance.now() - this.#countedAt > COUNT_EVERY_MS) {
      this.#counting ??= this.#recount(kv).finally(() => (this.#counting = undefined));
      await this.#counting;
    }
    if (this.#count >= this.#max) return false;
    this.#count += 1;
    return true;
  }

  /** The room was not created. */
  giveBack(): void {
    this.#count -= 1;
  }

  /** With one revision per key the bucket has as many values as rooms. */
  async #recount(kv: KV): Promise<void> {
    const { values } = await kv.status();
    this.#count = values;
    this.#countedAt = performance.now();
  }
}
