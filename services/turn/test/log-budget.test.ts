import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { LogBudget } from '../src/log-budget.ts';

const BURST = 200;

function begin(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'] });
  const written: string[] = [];
  const reports: number[] = [];
  const budget = new LogBudget({
    write: (line) => written.push(line),
    report: (lines) => reports.push(lines),
  });
  return { budget, written, reports, push: (text: string) => budget.push(Buffer.from(text)) };
}

test('[TURN-12] lines pass unchanged, however they are cut into chunks', (t) => {
  const { budget, written, push } = begin(t);
  for (const text of ['one\ntw', 'o\n', '\nfo', 'u', 'r']) push(text);
  budget.end();
  assert.deepEqual(written, ['one', 'two', '', 'four']);
  assert.equal(budget.suppressed, 0);
});

test('[TURN-12] a burst passes, then 5 lines a second; the others are counted and reported every 10 s', (t) => {
  const { budget, written, reports, push } = begin(t);
  push('bind: Address already in use\n'.repeat(100_000));
  assert.equal(written.length, BURST);
  assert.equal(budget.suppressed, 100_000 - BURST);
  t.mock.timers.tick(2000);
  push('again\n'.repeat(100));
  assert.equal(written.length, BURST + 10);
  assert.deepEqual(reports, []);
  t.mock.timers.tick(8000);
  assert.deepEqual(reports, [100_000 - BURST + 90]);
  t.mock.timers.tick(20_000);
  assert.equal(reports.length, 1, 'nothing was suppressed since');
});

test('[TURN-12] the report of what was suppressed last comes with the end of the log', (t) => {
  const { budget, reports, push } = begin(t);
  push('x\n'.repeat(BURST + 3));
  budget.end();
  t.mock.timers.tick(60_000);
  assert.deepEqual(reports, [3]);
});

test('[TURN-12] a line without an end takes no more memory than a thousand bytes, and is cut there', (t) => {
  const { written, push } = begin(t);
  for (let i = 0; i < 100; i += 1) push('x'.repeat(10_000));
  push('\nnext\n');
  assert.deepEqual(
    written.map((line) => line.length),
    [1000, 4],
  );
});
