/** Leases: each is renewed by its holder at intervals and lapses otherwise. SPEC rules MEDIA-2, TURN-6. */

/** The lease of a media relay or a TURN node. A later process of it has a greater epoch; `draining` ends the lease. */
export interface Lease {
  readonly epoch: number;
  readonly draining?: boolean;
}

interface Known<Said extends Lease> {
  readonly said: Said;
  readonly until: number;
}

export class Leases<Said extends Lease> {
  readonly #lapseMs: number;
  readonly #most: number;
  readonly #known = new Map<string, Known<Said>>();

  constructor({ lapseMs, most }: { readonly lapseMs: number; readonly most: number }) {
    this.#lapseMs = lapseMs;
    this.#most = most;
  }

  /** `now` in ms, from a monotonic clock. */
  heard(name: string, said: Said, now: number): void {
    this.#lapse(now);
    const known = this.#known.get(name);
    // A late message of an earlier process.
    if (known !== undefined && known.said.epoch > said.epoch) return;
    if (known === undefined && this.#known.size >= this.#most) return;
    this.#known.set(name, { said, until: now + this.#lapseMs });
  }

  living(now: number): Said[] {
    this.#lapse(now);
    return Array.from(this.#known.values(), ({ said }) => said).filter(({ draining }) => draining !== true);
  }

  /** A lease with `draining` is remembered for as long as any other, so that an earlier message that arrives late does not restore it. */
  #lapse(now: number): void {
    for (const [name, { until }] of this.#known) if (until <= now) this.#known.delete(name);
  }
}
