/**
 * Which region answers for the rooms of each home: its own until an operator promotes another one. A pod answers for no home before it has read what its
 * region knows, so that a home that was replaced does not act after a restart. SPEC rule HOME-11.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { HomeTerm } from '@parley/protocol/home';
import type { RegionId } from '@parley/protocol/ids';
import { isHigher } from '../core/home-terms.ts';
import type { HomeBus, SeatHolder, TermStore } from '../core/ports.ts';

export interface TermsParts {
  readonly region: RegionId;
  readonly holder: SeatHolder;
  readonly store: TermStore;
  readonly bus: Pick<HomeBus, 'announce' | 'onTerms'>;
  /** Another region answers for a home. */
  readonly onRaised: (term: HomeTerm) => void;
}

const TICK_MS = 1000;
const LOAD_TIMEOUT_MS = 2000;
const LOAD_PAUSE_MS = 100;
/** After a promotion the participants in rooms claim their seats: until then no newcomer gets one. */
const CLAIMS_MS = 10_000;

export class Terms {
  readonly #parts: TermsParts;
  readonly #terms = new Map<RegionId, HomeTerm>();
  readonly #learntAt = new Map<RegionId, number>();
  /** Those that the store does not have yet. */
  readonly #unstored = new Set<HomeTerm>();
  readonly #timer: NodeJS.Timeout;
  #isLoaded = false;
  #loading: Promise<void> | undefined;

  constructor(parts: TermsParts) {
    this.#parts = parts;
    parts.bus.onTerms(({ terms }) => this.#learn(terms));
    this.#timer = setInterval(() => void this.#tick(), TICK_MS);
    void this.#tick();
  }

  /** The region that answers for the rooms of this one. */
  actingFor(home: RegionId): RegionId {
    return this.#terms.get(home)?.by ?? home;
  }

  /** Whether it is known what the region knows: within 2 s. */
  async whenLoaded(): Promise<boolean> {
    const deadline = performance.now() + LOAD_TIMEOUT_MS;
    while (!this.#isLoaded && performance.now() < deadline) {
      await this.#load();
      if (!this.#isLoaded) await pause(LOAD_PAUSE_MS);
    }
    return this.#isLoaded;
  }

  /** Those for which a region was promoted. */
  homes(): readonly RegionId[] {
    return [...this.#terms.keys()];
  }

  term(home: RegionId): number {
    return this.#terms.get(home)?.term ?? 0;
  }

  /** Whether participants still claim their seats after a promotion. */
  isSettling(home: RegionId): boolean {
    return performance.now() - (this.#learntAt.get(home) ?? -Infinity) < CLAIMS_MS;
  }

  /**
   * This region answers for the home from now on, unless another one was promoted at the same time: then that promotion. `agreed`: what the other regions that
   * answer have stored after they were asked to store this one. `undefined`: the store did not answer, and may have written it nevertheless: it is read again.
   */
  async promote(
    home: RegionId,
    agreed: (term: HomeTerm) => Promise<readonly HomeTerm[]>,
  ): Promise<HomeTerm | undefined> {
    const { region, store } = this.#parts;
    if (!this.#isLoaded) return undefined;
    const term = { home, term: this.term(home) + 1, by: region };
    const raised = await store.raise(term);
    if (!raised.ok) {
      this.#isLoaded = false;
      return undefined;
    }
    const isStored = raised.kept.term === term.term && raised.kept.by === region;
    const stored = isStored ? [term, ...(await agreed(term))] : [raised.kept];
    this.#learn(stored.filter((other) => other.home === home));
    this.#announce();
    return this.#terms.get(home);
  }

  /** Another region is about to be promoted. The term that counts here afterwards; `undefined` where the store does not answer. */
  async accept(term: HomeTerm): Promise<HomeTerm | undefined> {
    const stored = await this.#parts.store.keep(term);
    if (!stored.ok) return undefined;
    this.#learn([stored.kept]);
    return stored.kept;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** `store`: it was known before this process. */
  #learn(terms: readonly HomeTerm[], from: 'regions' | 'store' = 'regions'): void {
    for (const term of terms) {
      if (!isHigher(term, this.#terms.get(term.home))) continue;
      this.#terms.set(term.home, term);
      if (from === 'regions') {
        this.#learntAt.set(term.home, performance.now());
        this.#unstored.add(term);
      }
      this.#parts.onRaised(term);
    }
  }

  async #tick(): Promise<void> {
    this.#announce();
    const { store } = this.#parts;
    await this.#load();
    for (const term of this.#unstored) if ((await store.keep(term)).ok) this.#unstored.delete(term);
  }

  /** Once at a time, for all that wait. */
  #load(): Promise<void> {
    this.#loading ??= this.#read().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  async #read(): Promise<void> {
    if (this.#isLoaded) return;
    const read = await this.#parts.store.read();
    if (!read.ok) return;
    this.#learn(read.terms, 'store');
    this.#isLoaded = true;
  }

  #announce(): void {
    const { bus, holder } = this.#parts;
    if (this.#terms.size > 0) bus.announce({ type: 'terms', ...holder, terms: [...this.#terms.values()] });
  }
}
