/** The reactions of the last seconds. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { Reaction } from '../call.ts';
import type { Clock } from '../ports.ts';

const SHOWN_MS = 5000;
/** In a large room all may react at once. */
const MAX_SHOWN = 50;

export class Reactions {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #timers = new Set<() => void>();
  #next = 1;
  #shown: readonly Reaction[] = [];

  constructor(clock: Clock, onChange: () => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  get shown(): readonly Reaction[] {
    return this.#shown;
  }

  add(from: ParticipantId, emoji: string): void {
    const id = this.#next++;
    this.#shown = [...this.#shown, { id, from, emoji }].slice(-MAX_SHOWN);
    const cancel = this.#clock.after(SHOWN_MS, () => {
      this.#timers.delete(cancel);
      this.#shown = this.#shown.filter((one) => one.id !== id);
      this.#onChange();
    });
    this.#timers.add(cancel);
  }

  close(): void {
    for (const cancel of this.#timers) cancel();
    this.#shown = [];
  }
}
