import assert from 'node:assert/strict';
import test from 'node:test';
import { holdersOf, type Report } from '../src/pages/holders.ts';
import { holdersTable, inexact, kbPerVisitor, missed } from '../src/pages/table.ts';

const LOAD = { visitors: 881, perSecond: 100 };
const CAME = { visitors: 881, late: 0, never: 0, exactMs: { max: 240 }, received: 11.3, receivedBytes: 1423 };
const WENT = { visitors: 441, late: 0, never: 0, exactMs: { max: 1005 }, received: 5, receivedBytes: 600 };
const GOOD: Report = {
  came: CAME,
  went: WENT,
  errors: {},
  closed: 0,
  memory: { beforeKb: 278_744, withKb: 300_769 },
  exact: true,
};

test('the figures of the bench are those of the load', () => {
  const holders = holdersOf(GOOD, LOAD);
  assert.deepEqual(holders, {
    ...LOAD,
    idleKb: 278_744,
    fullKb: 300_769,
    messagesPerVisitor: 11.3,
    bytesPerVisitor: 1423,
    messagesNaively: 441,
    exactMs: [240, 1005],
    wrong: undefined,
  });
  assert.equal(kbPerVisitor(holders), 25);
  assert.equal(missed([], holders), undefined);
  assert.match(holdersTable(holders), /^\| memory for each, both pods \| 25\.0 KB/m);
});

for (const [what, changes, why] of [
  ['a late visitor', { came: { ...CAME, late: 1 } }, /^1 visitors .* 2000 ms after all came, 0 never$/],
  [
    'a wrong count',
    { went: { ...WENT, late: 3, never: 3 } },
    /^3 visitors .* 2000 ms after half left, 3 never$/,
  ],
  ['a missing visitor', { came: { ...CAME, visitors: 880 } }, /^880 of 881 visitors after all came$/],
  [
    'a visitor that did not leave',
    { went: { ...WENT, visitors: 442 } },
    /^442 of 441 visitors after half left$/,
  ],
  ['an error', { errors: { RATE_LIMITED: 2 } }, /^2 times: RATE_LIMITED$/],
  ['a closed socket', { closed: 2 }, /^2 sockets were closed$/],
  ['a load that is not exact', {}, /^the count was not exact$/],
] as const satisfies readonly [string, Partial<Report>, RegExp][]) {
  test(`${what} fails a smoke run and a full run`, () => {
    const holders = holdersOf({ ...GOOD, ...changes, exact: false }, LOAD);
    assert.match(inexact([], holders) ?? '', why);
    assert.equal(missed([], holders), inexact([], holders));
    assert.ok(holdersTable(holders).includes('FAILED'));
  });
}

test('the stages are checked also where the load reports that it is exact', () => {
  assert.equal(
    holdersOf({ ...GOOD, went: { ...WENT, visitors: 881 } }, LOAD).wrong?.startsWith('881 of 441'),
    true,
  );
});

test('too many messages and too much memory miss the goals, and a smoke run does not judge them', () => {
  const chatty = holdersOf({ ...GOOD, came: { ...CAME, received: 221 } }, LOAD);
  const large = holdersOf({ ...GOOD, memory: { beforeKb: 0, withKb: 381 * 881 } }, LOAD);
  for (const [holders, why] of [
    [chatty, 'a message for each arrival'],
    [large, 'more memory for a visitor than the original'],
  ] as const) {
    assert.equal(missed([], holders), why);
    assert.equal(inexact([], holders), undefined);
  }
});
