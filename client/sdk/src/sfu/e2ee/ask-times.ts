/** When to ask which participant for its keys, again and again where no answer comes: less and less often. */
import type { ParticipantId } from '@parley/protocol/ids';
import { grown } from '../../net/backoff.ts';
import type { Clock } from '../../ports.ts';

const WAIT = { firstMs: 400, capMs: 10_000 };

export class AskTimes {
  readonly #clock: Clock;
  readonly #asked = new Map<ParticipantId, { readonly at: number; readonly times: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isDue(participant: ParticipantId): boolean {
    const last = this.#asked.get(participant);
    return last === undefined || this.#clock.now() - last.at >= grown(WAIT, last.times - 1);
  }

  asked(participant: ParticipantId): void {
    const times = (this.#asked.get(participant)?.times ?? 0) + 1;
    this.#asked.set(participant, { at: this.#clock.now(), times });
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
