/**
 * Decides the path of media between this participant and each other one: mesh or relays. The size of the room decides, which all participants see
 * alike; a pair also uses the relays if either side wants it. Pure.
 */

export type MediaPath = 'mesh' | 'sfu';

/** Relays above `max` participants, and the mesh again only at two below, so that one participant who comes and goes does not move all others. */
export function pathOfRoom(before: MediaPath, people: number, max: number): MediaPath {
  if (people > max) return 'sfu';
  return people < max ? 'mesh' : before;
}

/** What one side knows of a pair. */
export interface Pair {
  readonly mine: MediaPath;
  readonly theirs: MediaPath;
  /** Both browsers support relays, and our region has one. */
  readonly able: boolean;
  /** We receive the other's media through relays. */
  readonly receiving: boolean;
  /** The other signals that it receives our media through relays. */
  readonly peerReceiving: boolean;
  /** The mesh link is connected and media flows over it. */
  readonly flows: boolean;
  /** The wait for the relays took too long: the call needs another path meanwhile. */
  readonly overdue: boolean;
}

export interface Plan {
  readonly link: 'keep' | 'open' | 'close';
  readonly subscribe: boolean;
  /** The path whose media is shown. */
  readonly shown: MediaPath;
}

/** Make before break, in both directions: the current path carries the pair until the other path does. */
export function planOf({ mine, theirs, able, receiving, peerReceiving, flows, overdue }: Pair): Plan {
  if (able && (mine === 'sfu' || theirs === 'sfu')) {
    const link = receiving && peerReceiving ? 'close' : overdue ? 'open' : 'keep';
    return { link, subscribe: true, shown: receiving ? 'sfu' : 'mesh' };
  }
  return { link: 'open', subscribe: receiving && !flows, shown: receiving && !flows ? 'sfu' : 'mesh' };
}
