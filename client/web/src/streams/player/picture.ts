/** What a player is to the page: an element that shows what it is fed. */

export interface Seen {
  readonly width: number;
  readonly height: number;
  /** Decoded since the beginning. */
  readonly frames: number;
  /** Decoded too late to be shown. */
  readonly dropped: number;
  /** Seconds between the newest picture that arrived and the one that is shown. */
  readonly lag: number | null;
}

export interface Picture {
  readonly element: HTMLElement;
  /** Whole MPEG-TS packets. */
  feed(packets: Uint8Array<ArrayBuffer>): void;
  seen(): Seen;
  /** `false` where the browser does not allow it yet. */
  setSound(on: boolean): Promise<boolean>;
  close(): void;
}

export interface PictureOptions {
  readonly picture: boolean;
  readonly sound: boolean;
  /** It cannot go on: a new one is needed. */
  readonly onTrouble: (what: string) => void;
}
