/** The holders that a reader may ask: those that the service named, without those that failed. Pure. */
import type { Holders, VisitorId } from '@parley/protocol/pages';
import { grown } from '../net/backoff.ts';

/** The limit of `subscribe`. */
const WITHOUT = 64;
/** The number of visitors that are remembered; the oldest are dropped first. */
const REMEMBERED = 256;
/** The pause doubles each time a visitor fails again, up to this value. */
const MAX_REST_MS = 60_000;

export class Candidates {
  #named: Holders['holders'] = [];
  readonly #bad = new Set<VisitorId>();
  readonly #resting = new Map<VisitorId, { readonly until: number; readonly times: number }>();

  /** The service sends more holders while the page is read: earlier ones stay. */
  name(holders: Holders['holders']): void {
    const isNew = (one: VisitorId): boolean => holders.every(({ visitor }) => visitor !== one);
    const before = this.#named.filter(({ visitor }) => isNew(visitor));
    this.#named = [...holders, ...before].slice(0, WITHOUT);
  }

  /** Complete holders first, then in the order of the service, the last answer first. */
  next(connected: ReadonlySet<VisitorId>, now: number): VisitorId | undefined {
    const free = this.#named.filter(({ visitor }) => !connected.has(visitor) && this.#may(visitor, now));
    const wholeOnes = this.#named.filter(({ visitor, whole }) => whole && connected.has(visitor)).length;
    return (wholeOnes === 0 ? free.find(({ whole }) => whole) : undefined)?.visitor ?? free[0]?.visitor;
  }

  /** Excludes the visitor for a while. */
  rest(visitor: VisitorId, ms: number, now: number): void {
    const times = this.#resting.get(visitor)?.times ?? 0;
    this.#resting.delete(visitor);
    this.#resting.set(visitor, {
      until: now + grown({ firstMs: ms, capMs: MAX_REST_MS }, times),
      times: Math.min(6, times + 1),
    });
    forgetOldest(this.#resting);
  }

  /** Excludes the visitor. */
  ban(visitor: VisitorId): void {
    this.#bad.add(visitor);
    forgetOldest(this.#bad);
  }

  isBad(visitor: VisitorId): boolean {
    return this.#bad.has(visitor);
  }

  /** The visitors that the service need not name again. */
  exclude(connected: ReadonlySet<VisitorId>, now: number): VisitorId[] {
    const resting = [...this.#resting].filter(([, { until }]) => until > now).map(([visitor]) => visitor);
    return [...new Set([...resting, ...connected, ...this.#bad])].slice(-WITHOUT);
  }

  #may(visitor: VisitorId, now: number): boolean {
    return !this.#bad.has(visitor) && (this.#resting.get(visitor)?.until ?? 0) <= now;
  }
}

function forgetOldest(names: Set<VisitorId> | Map<VisitorId, unknown>): void {
  if (names.size <= REMEMBERED) return;
  const [oldest] = names.keys();
  if (oldest !== undefined) names.delete(oldest);
}
