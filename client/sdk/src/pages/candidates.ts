/** Whom a reader may ask: the holders that the service named, without those who did not give. Pure. */
import type { Holders, VisitorId } from '@parley/protocol/pages';
import { grown } from '../net/backoff.ts';

/** As many as `subscribe` takes. */
const WITHOUT = 64;
/** Names that are remembered; the oldest are forgotten first. */
const REMEMBERED = 256;
/** Each time somebody fails again the rest doubles, up to this. */
const LONGEST_MS = 60_000;

export class Candidates {
  #named: Holders['holders'] = [];
  readonly #bad = new Set<VisitorId>();
  readonly #resting = new Map<VisitorId, { readonly until: number; readonly times: number }>();

  /** The service names others while we read: those named before stay. */
  name(holders: Holders['holders']): void {
    const isNew = (one: VisitorId): boolean => holders.every(({ visitor }) => visitor !== one);
    const before = this.#named.filter(({ visitor }) => isNew(visitor));
    this.#named = [...holders, ...before].slice(0, WITHOUT);
  }

  /** Whoever has all first, then in the order of the service, which is by chance. */
  next(connected: ReadonlySet<VisitorId>, now: number): VisitorId | undefined {
    const free = this.#named.filter(({ visitor }) => !connected.has(visitor) && this.#may(visitor, now));
    const wholeOnes = this.#named.filter(({ visitor, whole }) => whole && connected.has(visitor)).length;
    return (wholeOnes === 0 ? free.find(({ whole }) => whole) : undefined)?.visitor ?? free[0]?.visitor;
  }

  /** Not to be asked for a while. */
  rest(visitor: VisitorId, ms: number, now: number): void {
    const times = this.#resting.get(visitor)?.times ?? 0;
    this.#resting.delete(visitor);
    this.#resting.set(visitor, {
      until: now + grown({ firstMs: ms, capMs: LONGEST_MS }, times),
      times: Math.min(6, times + 1),
    });
    forgetOldest(this.#resting);
  }

  /** Not to be asked any more. */
  ban(visitor: VisitorId): void {
    this.#bad.add(visitor);
    forgetOldest(this.#bad);
  }

  isBad(visitor: VisitorId): boolean {
    return this.#bad.has(visitor);
  }

  /** Who is not to be named again. */
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
