/** Scheduled actions, ordered by time in a binary heap. The core holds no timer; it says when it wants to be called. */

export interface Appointment {
  cancel(): void;
}

interface Slot {
  readonly at: number;
  readonly order: number;
  act: (() => void) | undefined;
}

export class Agenda {
  readonly #heap: Slot[] = [];
  #order = 0;

  /** Runs `act` at the first `runDue` whose time is `at` (ms) or later. Actions of the same time run in the order in which they were scheduled. */
  schedule(at: number, act: () => void): Appointment {
    const slot: Slot = { at, order: this.#order, act };
    this.#order += 1;
    this.#heap.push(slot);
    this.#rise(this.#heap.length - 1);
    return {
      cancel() {
        slot.act = undefined;
      },
    };
  }

  /** The time of the earliest action; `undefined` where there is none. */
  next(): number | undefined {
    this.#dropCancelled();
    return this.#heap[0]?.at;
  }

  runDue(now: number): void {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || first.at > now) return;
      this.#takeFirst();
      first.act?.();
    }
  }

  #dropCancelled(): void {
    while (this.#heap[0] !== undefined && this.#heap[0].act === undefined) this.#takeFirst();
  }

  #takeFirst(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#sink(0);
  }

  #rise(from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfBefore(at, parent)) return;
      at = parent;
    }
  }

  #sink(from: number): void {
    let at = from;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      const child = this.#isBefore(right, left) ? right : left;
      if (!this.#swapIfBefore(child, at)) return;
      at = child;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const one = this.#heap[a];
    const other = this.#heap[b];
    if (one === undefined || other === undefined) return false;
    return one.at < other.at || (one.at === other.at && one.order < other.order);
  }

  #swapIfBefore(a: number, b: number): boolean {
    if (!this.#isBefore(a, b)) return false;
    const one = this.#heap[a];
    const other = this.#heap[b];
    if (one === undefined || other === undefined) return false;
    this.#heap[a] = other;
    this.#heap[b] = one;
    return true;
  }
}
