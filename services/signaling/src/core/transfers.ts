/** Directed messages on their way to another pod, and those that were delivered here recently. SPEC rules DIR-4, DIR-5. */
import type { Limits } from '@parley/protocol/limits';
import type { Agenda } from './agenda.ts';
import { Queue } from './queue.ts';
import type { SocketId } from './socket-id.ts';

/** How many deliveries are remembered, of all pods: a repeated message follows soon after the first. */
const MAX_DELIVERED = 1024;
/** Numbers per millisecond of `boot`: two processes of a pod never give the same number to two transfers, at up to a million a second. */
const PER_BOOT = 1000;

/** A message that no pod has acknowledged yet. */
export interface Pending {
  readonly socket: SocketId;
  readonly to: string;
  /** The id that its sender gave it. */
  readonly id: string;
  readonly deadline: number;
}

export interface TransfersOptions {
  readonly boot: number;
  readonly limits: Limits;
  readonly agenda: Agenda;
  /** No pod acknowledged it in time, or too many are pending. */
  readonly onGivenUp: (pending: Pending) => void;
}

export class Transfers {
  readonly #options: TransfersOptions;
  /** Grows across restarts too, so that an acknowledgement for an earlier process never matches a message of this one. */
  #ref: number;
  readonly #pending = new Map<number, Pending>();
  /** The numbers of the pending ones, oldest first; some were answered. */
  readonly #order = new Queue<number>();
  /** As `{pod} {ref}`: a message that the bus repeats is not delivered again. */
  readonly #delivered = new Set<string>();
  readonly #deliveredOrder = new Queue<string>();
  /** One scheduled action watches over all. */
  #isWatched = false;

  constructor(options: TransfersOptions) {
    this.#options = options;
    this.#ref = options.boot * PER_BOOT;
  }

  /** Returns the number by which the other pod acknowledges it. */
  send(message: Omit<Pending, 'deadline'>, now: number): number {
    const { limits, onGivenUp } = this.#options;
    this.#ref += 1;
    const deadline = now + limits['directed.timeout'];
    this.#pending.set(this.#ref, { ...message, deadline });
    this.#order.push(this.#ref);
    this.#giveUpAt(deadline);
    const oldest = this.#pending.size > limits['directed.pending'] ? this.#oldest() : undefined;
    if (oldest !== undefined) {
      this.#pending.delete(oldest.ref);
      onGivenUp(oldest.pending);
    }
    return this.#ref;
  }

  /** The message that was acknowledged; `undefined` where it was given up before. */
  answered(ref: number): Pending | undefined {
    const pending = this.#pending.get(ref);
    this.#pending.delete(ref);
    return pending;
  }

  /** Whether this message was delivered before. */
  isDelivered(pod: string, ref: number): boolean {
    return this.#delivered.has(`${pod} ${ref}`);
  }

  markDelivered(pod: string, ref: number): void {
    const key = `${pod} ${ref}`;
    this.#delivered.add(key);
    this.#deliveredOrder.push(key);
    const oldest = this.#delivered.size > MAX_DELIVERED ? this.#deliveredOrder.first() : undefined;
    if (oldest === undefined) return;
    this.#delivered.delete(oldest);
    this.#deliveredOrder.shift();
  }

  #oldest(): { readonly ref: number; readonly pending: Pending } | undefined {
    for (let ref = this.#order.first(); ref !== undefined; ref = this.#order.first()) {
      const pending = this.#pending.get(ref);
      if (pending !== undefined) return { ref, pending };
      this.#order.shift();
    }
    return undefined;
  }

  #giveUpAt(deadline: number): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    this.#options.agenda.schedule(deadline, () => {
      this.#isWatched = false;
      this.#giveUp(deadline);
    });
  }

  /** All wait for the same time, so the oldest are first. */
  #giveUp(now: number): void {
    for (let oldest = this.#oldest(); oldest !== undefined; oldest = this.#oldest()) {
      const { ref, pending } = oldest;
      if (pending.deadline > now) {
        this.#giveUpAt(pending.deadline);
        return;
      }
      this.#pending.delete(ref);
      this.#options.onGivenUp(pending);
    }
  }
}
