/** A reporter of `node --test`: the files of failed tests, a line for each of them, and an empty line for everything else that happens. */
import type { TestEvent } from 'node:test/reporters';

export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events)
    yield type === 'test:fail' && data.file !== undefined ? `${data.file}\n` : '\n';
}
