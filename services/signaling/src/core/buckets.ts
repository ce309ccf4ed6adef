/** Token buckets: a rate per second and a burst. SPEC rule LIM-3. */

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
    const isThere = this.has(amount, now);
    if (isThere) this.#tokens -= amount;
    return isThere;
  }

  /** Whether `amount` could be taken. */
  has(amount: number, now: number): boolean {
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs);
    this.#at = now;
    return this.#tokens >= amount;
  }

  /** How long until `amount` can be taken. */
  waitMs(amount: number): number {
    return Math.max(0, Math.ceil((amount - this.#tokens) / this.#perMs));
  }
}

/**
 * How many addresses one `AddressBuckets` remembers. They take 5 MB and are more than have a socket here (`pod.sockets`), so that clients who come
 * back do not displace each other.
 */
export const MAX_ADDRESSES = 20_000;

/**
 * A bucket for each address, in two generations. An address that asks moves to the young generation. When the young generation has half of
 * `MAX_ADDRESSES`, or is old enough for every bucket to have filled, it becomes the old one, and the previous old generation is forgotten. All of
 * this takes constant time.
 *
 * An empty bucket is forgotten early only where 10,000 other addresses have asked since its own last did. An attacker with that many addresses gains
 * nothing, as each of them has a full bucket. Newcomers are always admitted to the table, whatever the attacker does.
 */
export class AddressBuckets {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #fillMs: number;
  #young = new Map<string, Bucket>();
  #old = new Map<string, Bucket>();
  #youngSince: number;

  constructor(perSecond: number, burst: number, now: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#fillMs = (1000 * burst) / perSecond;
    this.#youngSince = now;
  }

  /** How many addresses are remembered. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** `undefined` where a token was taken; otherwise how long to wait, in ms. */
  take(address: string, now: number): number | undefined {
    if (now - this.#youngSince >= this.#fillMs) this.#age(now);
    const bucket = this.#young.get(address) ?? this.#renew(address, now);
    return bucket.take(1, now) ? undefined : bucket.waitMs(1);
  }

  #renew(address: string, now: number): Bucket {
    if (this.#young.size >= MAX_ADDRESSES / 2) this.#age(now);
    const bucket = this.#old.get(address) ?? new Bucket(this.#perSecond, this.#burst, now);
    this.#old.delete(address);
    this.#young.set(address, bucket);
    return bucket;
  }

  #age(now: number): void {
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngSince = now;
  }
}
