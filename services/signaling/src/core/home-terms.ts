/** Which of two promotions counts, and of which one a revision is. SPEC rule HOME-11. */
import { TERM_REVISIONS, type HomeTerm } from '@parley/protocol/home';

export const isHigher = (term: HomeTerm, than: HomeTerm | undefined): boolean =>
  than === undefined || term.term > than.term || (term.term === than.term && term.by > than.by);

/** A promotion follows the ones that its region knows: one of an equal term was made beside it. */
export const isLater = (term: HomeTerm, than: HomeTerm | undefined): boolean =>
  than === undefined || term.term > than.term;

export const termOf = (revision: number): number => Math.floor(revision / TERM_REVISIONS);
