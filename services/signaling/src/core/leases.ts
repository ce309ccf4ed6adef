/** Leases: each is renewed by its holder at intervals and lapses otherwise. SPEC rules MEDIA-2, TURN-6. */

/** The lease of a media relay or a TURN node. A later process of it has a greater epoch; `draining` ends the lease. */
export interface Lease {
  readonly epoch: number;
  readonly draining?: boolean;
}

interface Known<Kept extends Lease> {
  readonly lease: Kept;
  readonly until: number;
}

export class Leases<Kept extends Lease> {
  readonly #durationMs: number;
  readonly #max: number;
  readonly #known = new Map<string, Known<Kept>>();

  constructor({ durationMs, max }: { readonly durationMs: number; readonly max: number }) {
    this.#durationMs = durationMs;
    this.#max = max;
  }

  /** `now` in ms, from a monotonic clock. */
  renew(name: string, lease: Kept, now: number): void {
    this.#lapse(now);
    const known = this.#known.get(name);
    // A late message of an earlier process.
    if (known !== undefined && known.lease.epoch > lease.epoch) return;
    if (known === undefined && this.#known.size >= this.#max) return;
    this.#known.set(name, { lease, until: now + this.#durationMs });
  }

  living(now: number): Kept[] {
    this.#lapse(now);
    return Array.from(this.#known.values(), ({ lease }) => lease).filter(({ draining }) => draining !== true);
  }

  /** A lease with `draining` is remembered for as long as any other, so that an earlier message that arrives late does not restore it. */
  #lapse(now: number): void {
    for (const [name, { until }] of this.#known) if (until <= now) this.#known.delete(name);
  }
}
