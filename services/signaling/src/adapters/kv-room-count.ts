/**
 * How many named rooms the region has, as a pod knows it: counted by the store at most once in `everyMs`, and in between by what this pod
 * creates. Several pods together may exceed the limit by what they create in that time. SPEC rule ROOM-12.
 */
import type { KV } from '@nats-io/kv';

export class RoomCount {
  readonly #recount: (kv: KV) => Promise<number>;
  readonly #everyMs: number;
  #count = 0;
  #countedAt = -Infinity;
  #counting: Promise<void> | undefined;

  constructor(recount: (kv: KV) => Promise<number>, everyMs: number) {
    this.#recount = recount;
    this.#everyMs = everyMs;
  }

  /** Reserves a place for one room, where there are fewer than `max`. */
  async take(kv: KV, max: number): Promise<boolean> {
    if (performance.now() - this.#countedAt > this.#everyMs) {
      this.#counting ??= this.#countNow(kv).finally(() => (this.#counting = undefined));
      await this.#counting;
    }
    if (this.#count >= max) return false;
    this.#count += 1;
    return true;
  }

  /** The room was not created. */
  giveBack(): void {
    this.#count -= 1;
  }

  async #countNow(kv: KV): Promise<void> {
    this.#count = await this.#recount(kv);
    this.#countedAt = performance.now();
  }
}
