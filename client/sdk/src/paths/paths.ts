/**
 * How media goes between us and each person of the room: from peer to peer, or through the relays. The size of the room decides, which
 * everyone sees alike; a pair also goes through the relays when either of the two wants it so. Pure.
 */

export type Way = 'mesh' | 'sfu';

/** Over `max` people through the relays, and back only when two less are left: one who comes and goes does not move everybody. */
export function wayOfRoom(before: Way, people: number, max: number): Way {
  if (people > max) return 'sfu';
  return people < max ? 'mesh' : before;
}

/** What one knows of a pair. */
export interface Pair {
  readonly mine: Way;
  readonly theirs: Way;
  /** Both browsers can, and our region has a relay. */
  readonly able: boolean;
  /** Their relayed media is here. */
  readonly takes: boolean;
  /** Ours is there, as they said. */
  readonly taken: boolean;
  /** The mesh link stands and media comes over it. */
  readonly flows: boolean;
  /** We have waited for the relays for long enough: something has to carry the call meanwhile. */
  readonly overdue: boolean;
}

export interface Plan {
  readonly link: 'keep' | 'open' | 'close';
  readonly subscribe: boolean;
  /** What is shown. */
  readonly shown: Way;
}

/** Make before break, in both directions: what carries the pair stays until the other way does. */
export function planOf({ mine, theirs, able, takes, taken, flows, overdue }: Pair): Plan {
  if (able && (mine === 'sfu' || theirs === 'sfu')) {
    const link = takes && taken ? 'close' : overdue ? 'open' : 'keep';
    return { link, subscribe: true, shown: takes ? 'sfu' : 'mesh' };
  }
  return { link: 'open', subscribe: takes && !flows, shown: takes && !flows ? 'sfu' : 'mesh' };
}
