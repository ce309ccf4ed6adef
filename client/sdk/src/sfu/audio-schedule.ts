/**
 * Where to schedule a block of a voice after the audio that is already scheduled, in seconds on the clock of the audio context. A late block is
 * played late, after the previous one: a word with a gap is clearer than half a word. Skipping quiet blocks makes up for the delay.
 */

/** A shorter gap is closed: clocks are coarse, and the target delay moves. */
const JOINED_S = 0.06;
/** Above this delay quiet blocks are skipped. */
const BEHIND_S = 0.04;
/** A speaker who is later than this talks over the answer: the block is dropped. */
const MAX_BEHIND_S = 0.5;

export interface AudioBlock {
  /** The desired start. */
  readonly wanted: number;
  readonly now: number;
  /** The end of all scheduled audio. */
  readonly until: number;
  readonly quiet: boolean;
}

/** The start of the block; `null`: dropped. */
export function scheduleStart({ wanted, now, until, quiet }: AudioBlock): number | null {
  const playing = until >= now;
  if (playing && wanted - until > JOINED_S) return wanted;
  const begins = playing ? until : Math.max(wanted, now);
  const behind = begins - wanted;
  return behind > MAX_BEHIND_S || (quiet && behind > BEHIND_S) ? null : begins;
}
