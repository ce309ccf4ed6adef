/** Directed messages on their way to another pod, and those handed on here lately. SPEC rules DIR-4, DIR-5. */
import type { Limits } from '@parley/protocol/limits';
import type { Agenda } from './agenda.ts';
import type { SocketId } from './socket-id.ts';

/** A repeated message comes soon after the first: so many are remembered, of all pods. */
const TAKEN_KEPT = 1024;
/** A process that starts at one ms and the next that starts at another never give a transfer the same number: a million a second. */
const PER_BOOT = 1000;

/** A message that no pod has answered for yet. */
export interface Pending {
  readonly socket: SocketId;
  readonly to: string;
  /** As its sender named it. */
  readonly id: string;
  readonly deadline: number;
}

export interface TransfersOptions {
  readonly boot: number;
  readonly limits: Limits;
  readonly agenda: Agenda;
  /** Nobody answered in time, or too many wait. */
  readonly onGivenUp: (pending: Pending) => void;
}

export class Transfers {
  readonly #options: TransfersOptions;
  /** Grows over restarts too, so that an answer to an earlier process is never taken for one to this. */
  #ref: number;
  readonly #pending = new Map<number, Pending>();
  /** As `{pod} {ref}`: a message that the bus repeats is not handed on again. */
  readonly #taken = new Set<string>();
  /** One appointment watches over all. */
  #isWatched = false;

  constructor(options: TransfersOptions) {
    this.#options = options;
    this.#ref = options.boot * PER_BOOT;
  }

  /** Its number, by which the other pod answers. */
  send(message: Omit<Pending, 'deadline'>, now: number): number {
    const { limits, onGivenUp } = this.#options;
    this.#ref += 1;
    const deadline = now + limits['directed.timeout'];
    this.#pending.set(this.#ref, { ...message, deadline });
    this.#giveUpAt(deadline);
    if (this.#pending.size > limits['directed.pending']) {
      for (const [oldest, pending] of this.#pending) {
        this.#pending.delete(oldest);
        onGivenUp(pending);
        break;
      }
    }
    return this.#ref;
  }

  /** What the answer is about; nothing where it was given up before. */
  answered(ref: number): Pending | undefined {
    const pending = this.#pending.get(ref);
    this.#pending.delete(ref);
    return pending;
  }

  /** Whether this one was handed on before. */
  isRepeated(pod: string, ref: number): boolean {
    return this.#taken.has(`${pod} ${ref}`);
  }

  handedOn(pod: string, ref: number): void {
    this.#taken.add(`${pod} ${ref}`);
    if (this.#taken.size <= TAKEN_KEPT) return;
    for (const oldest of this.#taken) {
      this.#taken.delete(oldest);
      return;
    }
  }

  #giveUpAt(deadline: number): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    this.#options.agenda.schedule(deadline, () => {
      this.#isWatched = false;
      this.#giveUp(deadline);
    });
  }

  /** All wait equally long, so the oldest are first. */
  #giveUp(now: number): void {
    for (const [ref, pending] of this.#pending) {
      if (pending.deadline > now) {
        this.#giveUpAt(pending.deadline);
        return;
      }
      this.#pending.delete(ref);
      this.#options.onGivenUp(pending);
    }
  }
}
