/** Token buckets: so many a second on the average, so many at once. SPEC rule LIM-3. */

/** One bucket, for a socket. Times are ms. */
export class Bucket {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #at: number;

  constructor(perSecond: number, burst: number, now: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#tokens = burst;
    this.#at = now;
  }

  /** Takes `amount`, or nothing where there is not enough. */
  take(amount: number, now: number): boolean {
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs);
    this.#at = now;
    if (this.#tokens < amount) return false;
    this.#tokens -= amount;
    return true;
  }

  /** How long until `amount` can be had. */
  waitMs(amount: number): number {
    return Math.max(0, Math.ceil((amount - this.#tokens) / this.#perMs));
  }

  isFull(now: number): boolean {
    return this.#tokens + (now - this.#at) * this.#perMs >= this.#burst;
  }
}

/** A bucket for each address. Full ones are forgotten, so memory follows the addresses that are active. */
export class AddressBuckets {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, Bucket>();
  #sweepAt: number;

  constructor(perSecond: number, burst: number, now: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#sweepAt = now + SWEEP_MS;
  }

  /** `undefined` where there was one to take; otherwise how long to wait, in ms. */
  take(address: string, now: number): number | undefined {
    if (now >= this.#sweepAt) this.#sweep(now);
    let bucket = this.#buckets.get(address);
    if (bucket === undefined) {
      bucket = new Bucket(this.#perSecond, this.#burst, now);
      this.#buckets.set(address, bucket);
    }
    return bucket.take(1, now) ? undefined : bucket.waitMs(1);
  }

  #sweep(now: number): void {
    this.#sweepAt = now + SWEEP_MS;
    for (const [address, bucket] of this.#buckets) if (bucket.isFull(now)) this.#buckets.delete(address);
  }
}

const SWEEP_MS = 60_000;
