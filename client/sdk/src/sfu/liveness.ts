/** Asks a silent relay whether it is alive. */
import { Path, type Connection as Net, type Track } from '@moq/net';
import type { Clock } from '../ports.ts';

type Session = Pick<Net.Established, 'consume'>;

const NOTHING = Path.from('nothing');
/** A timer that is later than this means that the page was blocked, and that the answer may still be queued in it. */
export const STALLED_MS = 250;
/** The wait is then repeated, but not for ever: in a hidden page every timer is late. */
const ROUNDS = 3;

/** A question that a live relay answers at once: it has no broadcast of a name that nothing publishes. */
export class LivenessQuestion {
  /** Resolves with the answer, and when the question or the session is closed. */
  readonly answered: Promise<void>;
  readonly #clock: Clock;
  readonly #nothing: Track.Subscriber;

  constructor(session: Session, prefix: Path.Valid, clock: Clock) {
    this.#clock = clock;
    this.#nothing = session.consume(Path.join(prefix, NOTHING)).track(NOTHING).subscribe();
    const answered = (): void => undefined;
    this.answered = this.#nothing.recvGroup().then(answered, answered);
  }

  /** Whether the answer arrives within this time, after which the question stays open. */
  async isAnswered(timeoutMs: number): Promise<boolean> {
    const answered = this.answered.then((): 'answered' => 'answered');
    for (let round = 0; round < ROUNDS; round += 1) {
      const { promise, resolve } = Promise.withResolvers<'late' | 'silent'>();
      const due = this.#clock.now() + timeoutMs;
      const late = (): boolean => this.#clock.now() - due > STALLED_MS;
      const cancel = this.#clock.after(timeoutMs, () => resolve(late() ? 'late' : 'silent'));
      const outcome = await Promise.race([answered, promise]);
      cancel();
      if (outcome !== 'late') return outcome === 'answered';
    }
    return false;
  }

  close(): void {
    this.#nothing.close();
  }
}
