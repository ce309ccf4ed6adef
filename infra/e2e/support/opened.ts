/** What the tests of a suite use: opened before them and closed after them, the last first, also where a later step of opening fails. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';

export interface Closeable {
  close(): Promise<unknown> | void;
}

/** To be called inside a `describe`; the function it returns inside its tests. `keep` takes what has to be closed. */
export function opened<Thing>(
  open: (keep: <Kept extends Closeable>(one: Kept) => Kept) => Promise<Thing>,
): () => Thing {
  const kept: Closeable[] = [];
  const found: { thing?: Thing } = {};
  before(async () => {
    found.thing = await open((one) => {
      kept.push(one);
      return one;
    });
  });
  after(async () => {
    const errors: unknown[] = [];
    for (const one of kept.toReversed()) {
      try {
        await one.close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'what the tests used did not close');
  });
  return () => {
    assert.ok(found.thing !== undefined, 'it is open while tests run only');
    return found.thing;
  };
}
