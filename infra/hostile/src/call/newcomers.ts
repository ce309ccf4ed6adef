/** A newcomer joins a room of its own every so often, from an address that was not there before. */
import { randomBytes } from 'node:crypto';
import { adHocRoomId } from '@parley/protocol/ids';
import { Participant } from '../participant.ts';
import { NETS, addresses } from '../sources.ts';
import { Series } from './series.ts';

export class Newcomers {
  /** Milliseconds from the join until the welcome. */
  readonly took = new Series();
  readonly failures: string[] = [];
  readonly #edge: string;
  readonly #from = addresses(NETS.newcomers);
  readonly #timer: NodeJS.Timeout;
  readonly #began = new Map<Promise<void>, number>();

  constructor(edge: string, everyMs: number) {
    this.#edge = edge;
    this.#timer = setInterval(() => this.#begin(), everyMs);
  }

  /** A newcomer that still waits counts with the time it has waited. */
  stop(): void {
    clearInterval(this.#timer);
    const now = performance.now();
    for (const began of this.#began.values()) this.took.add(now - began);
  }

  #begin(): void {
    const began = performance.now();
    const coming = this.#come(began).then(
      () => void this.#began.delete(coming),
      (error: unknown) => {
        this.#began.delete(coming);
        this.failures.push(error instanceof Error ? error.message : String(error));
      },
    );
    this.#began.set(coming, began);
  }

  async #come(began: number): Promise<void> {
    const room = adHocRoomId(randomBytes(16));
    const newcomer = await Participant.enter(this.#edge, room, { from: this.#from(), name: 'Newcomer' });
    this.took.add(performance.now() - began);
    newcomer.leave();
  }
}
