/** Waits for conditions that have no event, with a deadline. A failure is that of an assertion, with a sentence. */
import { AssertionError } from 'node:assert';
import { setTimeout as pause } from 'node:timers/promises';

const LOOK_EVERY_MS = 20;

/** Polls until the answer is not `undefined` or `false`. */
export async function eventually<Answer>(
  what: string,
  look: () => Answer | undefined | false | Promise<Answer | undefined | false>,
  timeoutMs = 5000,
): Promise<Answer> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const answer = await look();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > until) throw late(what, timeoutMs);
    await pause(LOOK_EVERY_MS);
  }
}

/** The promise, or a failure that names what it waited for. */
export async function within<Result>(
  what: string,
  promise: Promise<Result>,
  timeoutMs = 5000,
): Promise<Result> {
  const stop = new AbortController();
  const timeout = pause(timeoutMs, undefined, { signal: stop.signal }).then(() => {
    throw late(what, timeoutMs);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    stop.abort();
    timeout.catch(() => {});
  }
}

const late = (what: string, withinMs: number): AssertionError =>
  new AssertionError({ message: `not within ${withinMs} ms: ${what}` });
