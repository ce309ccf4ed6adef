/** The gate: a ratio above the budget fails, and so does one that was not measured. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { BUDGETS, type Budget } from '../src/budget.ts';
import { judgeBudget } from '../src/gate.ts';
import { ROWS, onlyBudgeted } from '../src/plan.ts';
import { summarize, type Run } from '../src/summary.ts';
import { judge } from '../src/verdict.ts';

const budget: Budget = { row: 'join', variant: 'parley', over: 'equal', ratio: 0.8, noise: 0.1 };

/** One round: what a hundred joins cost each server, in ms. */
function round(number: number, costs: Readonly<Record<string, number>>, generatorUse = 0.5): Run[] {
  return Object.entries(costs).map(([variant, userMs]) => {
    const servers = [{ name: variant, userMs, systemMs: 0 }];
    const spent = { wallMs: 1000, servers, generatorUse, generatorLateMs: 1, othersUse: 0 };
    const counts = { done: 100, sent: 100, received: 100, excused: 0 };
    const outcome = { spent, ...counts, p50Ms: 1, p99Ms: 2, failures: [] };
    return { row: 'join', variant, round: number, outcome, verdict: judge(outcome) };
  });
}

function verdictOn(...rounds: readonly (readonly Run[])[]) {
  const rows = onlyBudgeted(ROWS, [budget]).map((row) => summarize(row, rounds.flat()));
  return judgeBudget(budget, rows);
}

test('a ratio within the budget and its band is kept', () => {
  const verdict = verdictOn(round(1, { equal: 100, parley: 89 }));
  assert.deepEqual(verdict, {
    isKept: true,
    text: 'gate: join, x equal work: 0.890 (0.890-0.890), budget 0.800 + 0.100: kept',
  });
});

test('a ratio above the band is not kept', () => {
  const verdict = verdictOn(round(1, { equal: 100, parley: 91 }));
  assert.deepEqual(verdict, {
    isKept: false,
    text: 'gate: join, x equal work: 0.910 (0.910-0.910), budget 0.800 + 0.100: EXCEEDED',
  });
});

test('the median of the rounds decides, each with its own reference', () => {
  const slow = round(2, { equal: 300, parley: 240 });
  const bad = round(3, { equal: 100, parley: 150 });
  assert.equal(verdictOn(round(1, { equal: 100, parley: 80 }), slow, bad).isKept, true);
  assert.equal(verdictOn(round(1, { equal: 100, parley: 80 }), bad, bad).isKept, false);
});

test('what was not measured is not kept', () => {
  for (const verdict of [
    verdictOn(),
    verdictOn(round(1, { parley: 80 })),
    verdictOn(round(1, { equal: 100 })),
    judgeBudget(budget, []),
  ]) {
    assert.equal(verdict.isKept, false);
    assert.match(verdict.text, /no result/);
  }
});

test('a void round of either server leaves no result', () => {
  for (const server of ['equal', 'parley']) {
    const spoilt = round(2, { [server]: 10 }, 0.9);
    const verdict = verdictOn(round(1, { equal: 100, parley: 80 }), spoilt);
    assert.equal(verdict.isKept, false);
    assert.match(verdict.text, /no result \(VOID the generator used 90 % of its core\)/);
  }
});

test('the gate measures what has a budget, and nothing else', () => {
  const measured = onlyBudgeted(ROWS, BUDGETS).map(({ name, variants }) => [
    name,
    variants.map(({ id }) => id),
  ]);
  assert.deepEqual(measured, [
    ['join', ['parley', 'equal']],
    ['directed', ['naive', 'parley']],
  ]);
  for (const { row, variant, over, ratio, noise } of BUDGETS) {
    const ids = ROWS.find(({ name }) => name === row)?.variants.map(({ id }) => id);
    assert.ok(ids?.includes(variant) && ids.includes(over));
    assert.ok(ratio > 0 && noise > 0 && noise < ratio / 2);
  }
});
