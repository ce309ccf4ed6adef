import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectInTheEnd } from '../src/bus-connect.ts';

/** An attempt that fails with these errors, and succeeds then. */
function failing(...errors: readonly Error[]): () => Promise<string> {
  const left = [...errors];
  return () => {
    const error = left.shift();
    return error === undefined ? Promise.resolve('connected') : Promise.reject(error);
  };
}

test('[BUS-14] a pod tries until it is connected, and says each reason once, also where they alternate', async () => {
  const said: string[] = [];
  const [refused, unknown] = [new Error('ECONNREFUSED'), new Error('unknown CA')];
  const attempt = failing(refused, unknown, refused, unknown);
  const connection = await connectInTheEnd(attempt, (reason) => said.push(reason));
  assert.equal(connection, 'connected');
  assert.deepEqual(said, ['ECONNREFUSED', 'unknown CA']);
});

test('[BUS-14] the cause of an error is part of its reason, once', async () => {
  const said: string[] = [];
  const errors = [
    new Error('no server', { cause: new Error('ENOTFOUND') }),
    new Error('a b', { cause: new Error('b') }),
  ];
  await connectInTheEnd(failing(...errors), (reason) => said.push(reason));
  assert.deepEqual(said, ['no server: ENOTFOUND', 'a b']);
});

test('[BUS-14] a reason that lasts is said again after 30 s', async (t) => {
  const said: string[] = [];
  const clock = t.mock.method(performance, 'now', () => 0);
  const refused = new Error('ECONNREFUSED');
  let attempts = 0;
  const attempt = (): Promise<string> => {
    attempts += 1;
    if (attempts === 2) clock.mock.mockImplementation(() => 29_999);
    if (attempts === 3) clock.mock.mockImplementation(() => 30_000);
    return attempts > 3 ? Promise.resolve('connected') : Promise.reject(refused);
  };
  await connectInTheEnd(attempt, (reason) => said.push(reason));
  assert.equal(said.length, 2);
});
