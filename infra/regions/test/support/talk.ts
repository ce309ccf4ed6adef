/** Directed messages at a steady rate, and the longest time in which none arrived. */
import { eventually } from '../../../../services/signaling/test/support/deadline.ts';
import type { Person } from './people.ts';

const EVERY_MS = 200;
const STEADY_WITHIN_MS = 5000;

export class Talk {
  readonly pair: string;
  readonly #from: Person;
  readonly #to: Person;
  readonly #timer: NodeJS.Timeout;
  #sent = 0;

  constructor(from: Person, to: Person) {
    this.pair = `${from.name}>${to.name}`;
    this.#from = from;
    this.#to = to;
    this.#timer = setInterval(() => {
      this.#sent += 1;
      const id = `${this.pair}:${this.#sent}`;
      from.client.send(to.id, id, id);
    }, EVERY_MS);
  }

  /** Resolves when a message that was sent after this call arrived. */
  async flows(withinMs = STEADY_WITHIN_MS): Promise<void> {
    const sent = this.#sent;
    const isNew = ({ number }: { number: number }): boolean => number > sent;
    await eventually(`a message, ${this.pair}`, () => this.#arrived().some(isNew), withinMs);
  }

  /** The longest time since then in which no message arrived, in milliseconds. */
  longestGapMs(since: number): number {
    const times = this.#arrived()
      .map(({ at }) => at)
      .filter((at) => at > since);
    const gaps = [...times, performance.now()].map((at, index) => at - (times[index - 1] ?? since));
    return Math.round(Math.max(...gaps));
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #arrived(): { readonly number: number; readonly at: number }[] {
    const { directed, arrivals } = this.#to.client;
    const prefix = `${this.pair}:`;
    return directed.flatMap((message) => {
      const { from, payload } = message;
      if (from !== this.#from.id || !payload.startsWith(prefix)) return [];
      return [{ number: Number(payload.slice(prefix.length)), at: arrivals.get(message) ?? 0 }];
    });
  }
}
