/** Whether media of the whole room goes through relays. The size of the room decides, after a pause, so that a moment moves it once. */
import type { Clock } from '../ports.ts';
import { wayOfRoom, type Way } from './paths.ts';

/** Several changes within this time move the room once. The way back is slower, because a participant who reloads is absent for a moment. */
const SETTLE_MS = { sfu: 400, mesh: 3000 } as const;

export class RoomWay {
  readonly #clock: Clock;
  readonly #onMoved: () => void;
  #way: Way = 'mesh';
  #people = 1;
  #max = Number.POSITIVE_INFINITY;
  #cancel: (() => void) | null = null;

  constructor(clock: Clock, onMoved: () => void) {
    this.#clock = clock;
    this.#onMoved = onMoved;
  }

  get way(): Way {
    return this.#way;
  }

  /** The room is about to move from the mesh to the relays. */
  get leavesMesh(): boolean {
    return this.#way === 'mesh' && wayOfRoom('mesh', this.#people, this.#max) === 'sfu';
  }

  /** How many participants the room has, and above how many it leaves the mesh. */
  setSize(people: number, max: number): void {
    this.#people = people;
    this.#max = max;
  }

  /** Decides at once, for a participant who enters: in a large room it creates no links first. */
  decide(): void {
    this.#way = wayOfRoom('mesh', this.#people, this.#max);
  }

  settle(): void {
    const wanted = wayOfRoom(this.#way, this.#people, this.#max);
    if (wanted === this.#way) {
      this.#stop();
      return;
    }
    this.#cancel ??= this.#clock.after(SETTLE_MS[wanted], () => {
      this.#cancel = null;
      this.#way = wayOfRoom(this.#way, this.#people, this.#max);
      this.#onMoved();
    });
  }

  close(): void {
    this.#stop();
    this.#way = 'mesh';
  }

  #stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}
