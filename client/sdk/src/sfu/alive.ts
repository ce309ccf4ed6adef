/** Whether a relay lives of which nothing is heard: it is asked. */
import { Path, type Connection as Net } from '@moq/net';
import type { Clock } from '../ports.ts';

type Session = Pick<Net.Established, 'consume'>;

const NOTHING = Path.from('nothing');
/** A timer that comes later than this says that the page was late, and that the answer may wait in it. */
export const STALLED_MS = 250;
/** It is waited for again then, but not for ever: of a page that nobody sees every timer comes late. */
const ROUNDS = 3;

/** A relay that lives says at once that it has nothing of a name that nobody publishes. */
export async function answers(
  session: Session,
  prefix: Path.Valid,
  clock: Clock,
  withinMs: number,
): Promise<boolean> {
  const nothing = session.consume(Path.join(prefix, NOTHING)).track(NOTHING).subscribe();
  const answer = (): 'answered' => 'answered';
  const answered = nothing.recvGroup().then(answer, answer);
  let heard = false;
  for (let round = 0; round < ROUNDS; round += 1) {
    const { promise, resolve } = Promise.withResolvers<'late' | 'silent'>();
    const due = clock.now() + withinMs;
    const cancel = clock.after(withinMs, () => resolve(clock.now() - due > STALLED_MS ? 'late' : 'silent'));
    const said = await Promise.race([answered, promise]);
    cancel();
    heard = said === 'answered';
    if (said !== 'late') break;
  }
  nothing.close();
  return heard;
}
