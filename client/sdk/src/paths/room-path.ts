/** Whether media of the whole room goes through relays. The size of the room decides, after a pause, so that a moment moves it once. */
import type { Clock } from '../ports.ts';
import { pathOfRoom, type MediaPath } from './paths.ts';

/** Several changes within this time move the room once. The return is slower, because a participant who reloads is absent for a moment. */
const SETTLE_MS = { sfu: 400, mesh: 3000 } as const;

export class RoomPath {
  readonly #clock: Clock;
  readonly #onMoved: () => void;
  #path: MediaPath = 'mesh';
  #people = 1;
  #max = Number.POSITIVE_INFINITY;
  #cancel: (() => void) | null = null;

  constructor(clock: Clock, onMoved: () => void) {
    this.#clock = clock;
    this.#onMoved = onMoved;
  }

  get path(): MediaPath {
    return this.#path;
  }

  /** The room is about to move from the mesh to the relays. */
  get leavesMesh(): boolean {
    return this.#path === 'mesh' && pathOfRoom('mesh', this.#people, this.#max) === 'sfu';
  }

  /** How many participants the room has, and above how many it leaves the mesh. */
  setSize(people: number, max: number): void {
    this.#people = people;
    this.#max = max;
  }

  /** Decides at once, for a participant who enters: in a large room it creates no links first. */
  decide(): void {
    this.#path = pathOfRoom('mesh', this.#people, this.#max);
  }

  settle(): void {
    const wanted = pathOfRoom(this.#path, this.#people, this.#max);
    if (wanted === this.#path) {
      this.#stop();
      return;
    }
    this.#cancel ??= this.#clock.after(SETTLE_MS[wanted], () => {
      this.#cancel = null;
      this.#path = pathOfRoom(this.#path, this.#people, this.#max);
      this.#onMoved();
    });
  }

  close(): void {
    this.#stop();
    this.#path = 'mesh';
  }

  #stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}
