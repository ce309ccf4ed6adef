/** The load that a process of the siege maintains, and its results. */

export interface SiegePlan {
  readonly edge: string;
  readonly from: readonly string[];
  /** Connections that send nothing, kept open: each that is closed is opened again. */
  readonly silent: number;
  /** Sockets of pages that each send a message in fragments of one byte, likewise. */
  readonly fragmenting: number;
  readonly junkJoinsPerSecond: number;
}

export interface SiegeReport {
  readonly silentOpened: number;
  readonly silentMost: number;
  readonly fragmentingOpened: number;
  /** Upgrades that the edge or a pod refused. */
  readonly fragmentingRefused: number;
  readonly fragmentingClosed: number;
  readonly megabytesOfFragments: number;
  /** How often each code answered a junk join; `reset` for connections without an answer. */
  readonly junk: Readonly<Record<string, number>>;
}
