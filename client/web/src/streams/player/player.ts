/** The interface of a player: an element that shows the data it gets. */

export interface PlayerStats {
  readonly width: number;
  readonly height: number;
  /** Frames decoded since the start. */
  readonly frames: number;
  /** Decoded too late to be shown. */
  readonly dropped: number;
  /** Seconds between the newest received frame and the displayed one. */
  readonly lag: number | null;
}

export interface Player {
  readonly element: HTMLElement;
  /** Whole MPEG-TS packets. */
  feed(packets: Uint8Array<ArrayBuffer>): void;
  stats(): PlayerStats;
  /** `false` if the browser does not allow it yet. */
  setSound(on: boolean): Promise<boolean>;
  close(): void;
}

export interface PlayerOptions {
  readonly picture: boolean;
  readonly sound: boolean;
  /** The player failed: a new one is needed. */
  readonly onError: (what: string) => void;
}
