/**
 * Decides the path of media between this participant and each other one: mesh or relays. The size of the room decides, which all participants see
 * alike; a pair also uses the relays if either side wants it. Pure.
 */

export type Way = 'mesh' | 'sfu';

/** Relays above `max` participants, and the mesh again only at two below, so that one participant who comes and goes does not move all others. */
export function wayOfRoom(before: Way, people: number, max: number): Way {
  if (people > max) return 'sfu';
  return people < max ? 'mesh' : before;
}

/** What one side knows of a pair. */
export interface Pair {
  readonly mine: Way;
  readonly theirs: Way;
  /** Both browsers support relays, and our region has one. */
  readonly able: boolean;
  /** We receive the other's media through relays. */
  readonly takes: boolean;
  /** The other signals that it receives our media through relays. */
  readonly taken: boolean;
  /** The mesh link is connected and media flows over it. */
  readonly flows: boolean;
  /** The wait for the relays took too long: the call needs another path meanwhile. */
  readonly overdue: boolean;
}

export interface Plan {
  readonly link: 'keep' | 'open' | 'close';
  readonly subscribe: boolean;
  /** The path whose media is shown. */
  readonly shown: Way;
}

/** Make before break, in both directions: the current path carries the pair until the other path does. */
export function planOf({ mine, theirs, able, takes, taken, flows, overdue }: Pair): Plan {
  if (able && (mine === 'sfu' || theirs === 'sfu')) {
    const link = takes && taken ? 'close' : overdue ? 'open' : 'keep';
    return { link, subscribe: true, shown: takes ? 'sfu' : 'mesh' };
  }
  return { link: 'open', subscribe: takes && !flows, shown: takes && !flows ? 'sfu' : 'mesh' };
}
