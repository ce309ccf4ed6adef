/**
 * What a region follows of a home, as one sorted list for all pages of a comparison: a pod reads the store once for a hundred thousand rooms and not once a
 * page. SPEC rule HOME-10.
 */
import type { RegionId } from '@parley/protocol/ids';
import type { FollowedStore, ListOf } from '../core/ports.ts';

/** A version of a room, by its name. */
export type Listed = [name: string, revision: number];

/** A comparison asks for its next page at once. */
const KEEP_MS = 20_000;

export class Listings {
  readonly #followed: Pick<FollowedStore, 'list'>;
  readonly #kept = new Map<string, Promise<readonly Listed[] | undefined>>();

  constructor(followed: Pick<FollowedStore, 'list'>) {
    this.#followed = followed;
  }

  /** In the order of names; `undefined` where the store does not answer. The first page of a comparison is of a new list. */
  of(home: RegionId, which: ListOf, after: string | undefined): Promise<readonly Listed[] | undefined> {
    const key = `${home} ${which}`;
    const kept = after === undefined ? undefined : this.#kept.get(key);
    if (kept !== undefined) return kept;
    const list = this.#read(home, which);
    this.#kept.set(key, list);
    const drop = (): void => void (this.#kept.get(key) === list && this.#kept.delete(key));
    void list.then((read) => (read === undefined ? drop() : setTimeout(drop, KEEP_MS).unref()));
    return list;
  }

  async #read(home: RegionId, which: ListOf): Promise<readonly Listed[] | undefined> {
    const listed = await this.#followed.list(home, which);
    if (!listed.ok) return undefined;
    return [...listed.revisions].toSorted(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** The rooms whose names come after `after`, `max` of them; the first ones without it. */
export function pageOf(
  list: readonly Listed[],
  after: string | undefined,
  max: number,
): { readonly page: Listed[]; readonly isLast: boolean } {
  const from = after === undefined ? 0 : firstAfter(list, after);
  return { page: list.slice(from, from + max), isLast: from + max >= list.length };
}

/** By bisection. */
function firstAfter(list: readonly Listed[], after: string): number {
  let from = 0;
  let to = list.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((list[middle]?.[0] ?? '') > after) to = middle;
    else from = middle + 1;
  }
  return from;
}
