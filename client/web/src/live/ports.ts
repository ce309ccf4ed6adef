/** The interfaces of `publisher.ts` and `player.ts` for the sessions; both are loaded only if needed. */
import type { Connection } from '@parley/sdk/sfu/transports';

/** The media that is published. */
export interface PublishedMedia {
  readonly picture: MediaStreamTrack | null;
  readonly sound: MediaStreamTrack | null;
  readonly muted: boolean;
}

export interface PublishStats {
  readonly width: number;
  readonly height: number;
  /** The target bit rate of the encoders, per second. */
  readonly bits: number;
  readonly codecs: readonly string[];
  /** A relay subscribes to the broadcast, because there is a viewer. */
  readonly hasViewers: boolean;
}

export interface Publisher<Kind extends Connection> {
  setConnection(connection: { readonly on: Kind; readonly broadcast: string } | null): void;
  setMedia(media: PublishedMedia): void;
  stats(): PublishStats;
  /** Whether another one publishes a broadcast of that name. */
  isTaken(connection: { readonly on: Kind; readonly broadcast: string }, withinMs: number): Promise<boolean>;
  /** Whether the relay of the current connection answers, or there is no connection. */
  isAlive(withinMs: number): Promise<boolean>;
  close(): void;
}

export interface PlayerStats {
  /** Since the start, or since the broadcast restarted. */
  readonly bytes: number;
  readonly frames: number;
  readonly width: number;
  readonly height: number;
  readonly codecs: readonly string[];
  /** The playout delay behind the clock of the sender, which gives late packets time to arrive. */
  readonly bufferMs: number;
  /** The tracks of the broadcast, and whether this browser decodes them. */
  readonly picture: boolean;
  readonly playable: boolean;
  readonly sound: boolean;
}

export interface Player<Kind extends Connection> {
  readonly canvas: HTMLCanvasElement;
  setConnection(connection: { readonly on: Kind; readonly broadcast: string } | null): void;
  setSound(on: boolean): void;
  /** Whether the relay still answers. */
  isAlive(withinMs: number): Promise<boolean>;
  stats(): PlayerStats;
  close(): void;
}
