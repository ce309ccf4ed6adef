/**
 * A reporter of `node --test`: the files of failed tests, a line for each of them, an empty line for everything else that happens to a test, and
 * `IS_COMPLETE` at the end of a run that was not interrupted.
 */
import type { TestEvent } from 'node:test/reporters';

export const IS_COMPLETE = 'complete';

export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let isInterrupted = false;
  for await (const { type, data } of events) {
    isInterrupted ||= (type as string) === 'test:interrupted';
    // What a process that was left open writes is no sign of progress.
    if (type === 'test:stdout' || type === 'test:stderr') continue;
    yield type === 'test:fail' && data.file !== undefined ? `${data.file}\n` : '\n';
  }
  if (!isInterrupted) yield `${IS_COMPLETE}\n`;
}
