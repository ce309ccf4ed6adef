/** Asks a silent relay whether it is alive. */
import { Path, type Connection as Net } from '@moq/net';
import type { Clock } from '../ports.ts';

type Session = Pick<Net.Established, 'consume'>;

const NOTHING = Path.from('nothing');
/** A timer that is later than this means that the page was blocked, and that the answer may still be queued in it. */
export const STALLED_MS = 250;
/** The wait is then repeated, but not for ever: in a hidden page every timer is late. */
const ROUNDS = 3;

/** A live relay answers at once that it has no broadcast of a name that nothing publishes. */
export async function isRelayAlive(
  session: Session,
  prefix: Path.Valid,
  clock: Clock,
  timeoutMs: number,
): Promise<boolean> {
  const nothing = session.consume(Path.join(prefix, NOTHING)).track(NOTHING).subscribe();
  const answer = (): 'answered' => 'answered';
  const answered = nothing.recvGroup().then(answer, answer);
  let isAlive = false;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { promise, resolve } = Promise.withResolvers<'late' | 'silent'>();
    const due = clock.now() + timeoutMs;
    const cancel = clock.after(timeoutMs, () => resolve(clock.now() - due > STALLED_MS ? 'late' : 'silent'));
    const outcome = await Promise.race([answered, promise]);
    cancel();
    isAlive = outcome === 'answered';
    if (outcome !== 'late') break;
  }
  nothing.close();
  return isAlive;
}
