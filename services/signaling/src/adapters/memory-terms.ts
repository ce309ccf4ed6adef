/** Promotions in memory, for tests. */
import type { HomeTerm } from '@parley/protocol/home';
import { isHigher, isLater } from '../core/home-terms.ts';
import type { TermStore } from '../core/ports.ts';

export function memoryTerms(): TermStore {
  const terms = new Map<string, HomeTerm>();
  const keepWhere = (term: HomeTerm, isBetter: typeof isHigher): ReturnType<TermStore['keep']> => {
    const found = terms.get(term.home);
    const kept = found === undefined || isBetter(term, found) ? term : found;
    terms.set(term.home, kept);
    return Promise.resolve({ ok: true, kept });
  };
  return {
    read: () => Promise.resolve({ ok: true, terms: [...terms.values()] }),
    keep: (term) => keepWhere(term, isHigher),
    raise: (term) => keepWhere(term, isLater),
  };
}
