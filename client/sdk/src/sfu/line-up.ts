/**
 * Where a piece of a voice goes beside what is playing already, in seconds on the clock of the sound card. What is late is played late, behind
 * what it follows: a word with a gap says more than half a word. The time is made up for in quiet pieces, which are left out.
 */

/** A gap as short as this is closed: clocks are coarse, and the delay that is aimed at moves. */
const JOINED_S = 0.06;
/** From here on quiet pieces are left out. */
const BEHIND_S = 0.04;
/** Whoever is later than this talks over the answer: the piece is left out. */
const MOST_BEHIND_S = 0.5;

export interface Piece {
  /** When it should begin. */
  readonly wanted: number;
  readonly now: number;
  /** When all that was given before is over. */
  readonly until: number;
  readonly quiet: boolean;
}

/** When it begins; `null`: never. */
export function lineUp({ wanted, now, until, quiet }: Piece): number | null {
  const playing = until >= now;
  if (playing && wanted - until > JOINED_S) return wanted;
  const begins = playing ? until : Math.max(wanted, now);
  const behind = begins - wanted;
  return behind > MOST_BEHIND_S || (quiet && behind > BEHIND_S) ? null : begins;
}
