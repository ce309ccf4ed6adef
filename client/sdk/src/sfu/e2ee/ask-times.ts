/** When to ask which participant for its keys, again and again where no answer comes: less and less often. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { Clock } from '../../ports.ts';

const FIRST_MS = 400;
const LONGEST_MS = 10_000;

export class AskTimes {
  readonly #clock: Clock;
  readonly #asked = new Map<ParticipantId, { readonly at: number; readonly waitMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isDue(participant: ParticipantId): boolean {
    const last = this.#asked.get(participant);
    return last === undefined || this.#clock.now() - last.at >= last.waitMs;
  }

  asked(participant: ParticipantId): void {
    const waitMs = Math.min(LONGEST_MS, 2 * (this.#asked.get(participant)?.waitMs ?? FIRST_MS / 2));
    this.#asked.set(participant, { at: this.#clock.now(), waitMs });
  }

  /** It answered, or is another page now. */
  answered(participant: ParticipantId): void {
    this.#asked.delete(participant);
  }

  keep(members: ReadonlySet<ParticipantId>): void {
    for (const participant of this.#asked.keys())
      if (!members.has(participant)) this.#asked.delete(participant);
  }
}
