import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Path, type Connection as Net } from '@moq/net';
import type { Clock } from '../../src/ports.ts';
import { LivenessQuestion } from '../../src/sfu/liveness.ts';
import { fakeClock, type FakeClock } from '../fakes/clock.ts';

const TIMEOUT_MS = 1000;

/** A relay that answers after the given time, on the clock of the page. */
function relayThatAnswers(clock: FakeClock, afterMs: number) {
  let closed = 0;
  const track = {
    recvGroup: () => new Promise((resolve) => clock.after(afterMs, () => resolve(undefined))),
    close: () => (closed += 1),
  };
  const session = { consume: () => ({ track: () => ({ subscribe: () => track }) }) };
  return { session: session as unknown as Net.Established, closed: () => closed };
}

/** The clock of a hidden page: timers fire once every `everyMs`. */
const throttled = (clock: FakeClock, everyMs: number): Clock => ({
  ...clock,
  after: (ms, task) => clock.after(Math.ceil((clock.now() + ms) / everyMs) * everyMs - clock.now(), task),
});

for (const [what, answersMs, everyMs, alive, tookMs] of [
  ['one that answers is alive', 100, 1, true, 100],
  ['one that does not is dead', Infinity, 1, false, 1000],
  ['of a page that is late the answer is waited for again', 2500, 800, true, 2500],
  [
    'one that does not is dead also where every timer is late, because the page is hidden',
    Infinity,
    700,
    false,
    4200,
  ],
] as const)
  test(`[MEDIA-10] the client checks whether a silent relay is alive: ${what}`, async () => {
    const clock = fakeClock();
    const { session, closed } = relayThatAnswers(clock, answersMs);
    let said: boolean | null = null;
    const question = new LivenessQuestion(session, Path.from('rooms', 'r'), throttled(clock, everyMs));
    void question.isAnswered(TIMEOUT_MS).then((answer) => (said = answer));
    assert.equal(await clock.until(() => said !== null, 60_000), tookMs);
    assert.deepEqual([said, closed()], [alive, 0]);
    question.close();
    assert.equal(closed(), 1);
  });
