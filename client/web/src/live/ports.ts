/** What the sessions of a live broadcast take from the libraries: `publisher.ts` and `player.ts`, loaded where they are needed. */
import type { Connection } from '@parley/sdk/sfu/transports';

/** What is published now. */
export interface Shown {
  readonly picture: MediaStreamTrack | null;
  readonly sound: MediaStreamTrack | null;
  readonly muted: boolean;
}

export interface Sent {
  readonly width: number;
  readonly height: number;
  /** What the encoders aim at, per second. */
  readonly bits: number;
  readonly codecs: readonly string[];
  /** A relay fetches it: somebody watches. */
  readonly wanted: boolean;
}

export interface Publisher<Kind extends Connection> {
  use(connection: { readonly on: Kind; readonly broadcast: string } | null): void;
  show(shown: Shown): void;
  sent(): Sent;
  /** Whether the relay of the connection in use answers, or there is none. */
  answers(withinMs: number): Promise<boolean>;
  close(): void;
}

export interface Seen {
  /** Since the beginning, or since the broadcast began anew. */
  readonly bytes: number;
  readonly frames: number;
  readonly width: number;
  readonly height: number;
  readonly codecs: readonly string[];
  /** How far behind the sender's clock the player stays, so that late packets are in time. */
  readonly bufferMs: number;
  /** What the broadcast has, and whether this browser decodes it. */
  readonly picture: boolean;
  readonly playable: boolean;
  readonly sound: boolean;
}

export interface Player<Kind extends Connection> {
  readonly canvas: HTMLCanvasElement;
  use(connection: { readonly on: Kind; readonly broadcast: string } | null): void;
  setSound(on: boolean): void;
  /** Whether the relay still says something. */
  answers(withinMs: number): Promise<boolean>;
  seen(): Seen;
  close(): void;
}
