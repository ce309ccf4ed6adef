/** One track of a participant that is read and played: on one connection or, until the newer one delivers, on two. */
import type { Broadcast } from '@moq/net';
import type { Clock } from '../ports.ts';
import type { Closeable } from './media-ports.ts';
import type { FrameOpener } from './e2ee/frame-cipher.ts';
import { readTrack, type ReaderHandlers } from './track-reader.ts';

export interface Player extends ReaderHandlers {
  close(): void;
}

export interface TrackPlaybackOptions {
  readonly priority: number;
  readonly clock: Clock;
  /** Decrypts the frames; frames that it cannot decrypt are dropped. */
  readonly opener?: FrameOpener | null;
}

export class TrackPlayback<Kind extends Player> {
  readonly name: string;
  readonly player: Kind;
  readonly #priority: number;
  readonly #clock: Clock;
  readonly #opener: FrameOpener | null;
  #flowing: Closeable | null = null;
  #next: Closeable | null = null;

  constructor(name: string, player: Kind, { priority, clock, opener = null }: TrackPlaybackOptions) {
    this.name = name;
    this.#priority = priority;
    this.#clock = clock;
    this.#opener = opener;
    this.player = player;
  }

  /** Continues with this broadcast; the previous one is played until the new one delivers. */
  read(broadcast: Broadcast.Consumer): void {
    this.#next?.close();
    const reader = readTrack(
      broadcast,
      { name: this.name, priority: this.#priority },
      {
        onFrame: (group, index, bytes) => {
          if (this.#next === reader) this.#takeOver(reader);
          if (this.#opener === null) this.player.onFrame(group, index, bytes);
          else void this.#open(this.#opener, group, index, bytes);
        },
        onEnded: (group, frames) => this.player.onEnded(group, frames),
        onCut: () => this.player.onCut?.(),
      },
      this.#clock,
    );
    this.#next = reader;
  }

  close(): void {
    this.#next?.close();
    this.#flowing?.close();
    this.player.close();
  }

  async #open(opener: FrameOpener, group: number, index: number, bytes: Uint8Array): Promise<void> {
    const opened = await opener.decrypt(group, index, bytes);
    if (opened !== undefined) this.player.onFrame(group, index, opened);
  }

  #takeOver(reader: Closeable): void {
    this.#flowing?.close();
    this.#flowing = reader;
    this.#next = null;
  }
}
