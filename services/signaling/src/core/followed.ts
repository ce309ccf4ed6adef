/** Which version of a followed room a store keeps and lists. SPEC rules HOME-9, HOME-13. */
import type { FollowedRoom, ListOf } from './ports.ts';

/** A version that this region wrote stays until it was handed over: what replaces it may not have it yet. A removal has nothing that could be lost. */
export function isReplacedBy(found: FollowedRoom | undefined, { revision }: FollowedRoom): boolean {
  if (found === undefined) return true;
  const isOwn = found.includes !== undefined && found.record !== undefined;
  return !isOwn && found.revision < revision;
}

/** The revision that this list has of the room; `undefined` where it does not have the room. */
export function listedAs({ revision, includes, record }: FollowedRoom, which: ListOf): number | undefined {
  if (which === 'written') return includes === undefined ? undefined : revision;
  if (record === undefined) return undefined;
  return which === 'included' ? (includes ?? revision) : revision;
}
