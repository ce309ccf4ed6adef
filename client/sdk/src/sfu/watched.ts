/** One track of a participant that is read and played: on one connection or, until the newer one delivers, on two. */
import type { Broadcast } from '@moq/net';
import type { Clock } from '../ports.ts';
import type { Closeable } from './media-ports.ts';
import type { TrackSeal } from './seal.ts';
import { readTrack, type ReaderHandlers } from './track-reader.ts';

export interface Player extends ReaderHandlers {
  close(): void;
}

export interface WatchedOptions {
  readonly priority: number;
  readonly clock: Clock;
  /** Decrypts the frames; frames that it cannot decrypt are dropped. */
  readonly seal?: TrackSeal | null;
}

export class Watched<Kind extends Player> {
  readonly name: string;
  readonly player: Kind;
  readonly #priority: number;
  readonly #clock: Clock;
  readonly #seal: TrackSeal | null;
  #flowing: Closeable | null = null;
  #next: Closeable | null = null;

  constructor(name: string, player: Kind, { priority, clock, seal = null }: WatchedOptions) {
    this.name = name;
    this.#priority = priority;
    this.#clock = clock;
    this.#seal = seal;
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
          if (this.#seal === null) this.player.onFrame(group, index, bytes);
          else void this.#open(this.#seal, group, index, bytes);
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

  async #open(seal: TrackSeal, group: number, index: number, bytes: Uint8Array): Promise<void> {
    const opened = await seal.open(group, index, bytes);
    if (opened !== undefined) this.player.onFrame(group, index, opened);
  }

  #takeOver(reader: Closeable): void {
    this.#flowing?.close();
    this.#flowing = reader;
    this.#next = null;
  }
}
