/** Which changes of seats the home region grants. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SeatChange } from '@parley/protocol/home';
import type { SeatPlan } from '../../src/core/ports.ts';
import { changeSeats, type SeatRules } from '../../src/core/seat-plan.ts';

const EMPTY: SeatPlan = { incarnation: 'one', seats: [] };
const HERE = { pod: 'eu_a', boot: 1 };
const THERE = { pod: 'us_b', boot: 2 };
const REST_MS = 5000;
const RULES: SeatRules = {
  cap: 1,
  isAbandoned: () => false,
  mayLive: () => false,
  restMs: REST_MS,
  now: 100_000,
};

type Asked = SeatChange & { readonly by?: typeof HERE };

function change(
  before: SeatPlan,
  changes: readonly Asked[],
  rules: Partial<SeatRules> = {},
): ReturnType<typeof changeSeats> {
  return changeSeats(
    before,
    changes.map((one) => ({ by: HERE, ...one })),
    { ...RULES, ...rules },
  );
}

const take = (participant: string): Asked => ({ act: 'take', participant });
const claim = (participant: string): Asked => ({ act: 'claim', participant, by: THERE });
const free = (participant: string, by = HERE): Asked => ({ act: 'free', participant, by });

describe('the seats of a room', () => {
  it('[HOME-3] a request that is repeated has no further effect', () => {
    const first = change(EMPTY, [take('p1')]);
    const again = change(first.plan, [take('p1')]);
    assert.deepEqual([first.decisions, again.decisions], [['taken'], ['held']]);
    assert.equal(again.plan, first.plan);
  });

  it('[HOME-4] a seat that was freed is given to no other participant for a while (seat.rest), and to the same one at once', () => {
    const { plan } = change(EMPTY, [take('p1'), free('p1')]);
    assert.deepEqual(change(plan, [take('p2')]).decisions, ['full']);
    const later = { now: RULES.now + REST_MS - 1 };
    assert.deepEqual(change(plan, [take('p2')], later).decisions, ['full']);
    const rested = change(plan, [take('p2')], { now: RULES.now + REST_MS });
    assert.deepEqual(rested.decisions, ['taken']);
    assert.deepEqual(rested.plan.resting, []);
    const back = change(plan, [claim('p1'), take('p2')]);
    assert.deepEqual(back.decisions, ['taken', 'full']);
    assert.deepEqual(
      back.plan.seats.map(({ participant, pod }) => `${participant} ${pod}`),
      ['p1 us_b'],
    );
  });

  it('[HOME-4] a clock that was set back keeps no seat', () => {
    const { plan } = change(EMPTY, [take('p1'), free('p1')]);
    assert.deepEqual(change(plan, [take('p2')], { now: RULES.now - 300_000 }).decisions, ['taken']);
  });

  it('[HOME-4] while a region is cut off no seat is given again: neither one that was freed nor that of a dead pod', () => {
    const { plan } = change(EMPTY, [take('p1'), take('p2'), free('p1')], { cap: 2 });
    const cut = { cap: 2, restMs: Infinity, now: RULES.now + 3_600_000 };
    assert.deepEqual(change(plan, [take('p3')], cut).decisions, ['full']);
    assert.deepEqual(change(plan, [take('p3')], { ...cut, isAbandoned: () => true }).decisions, ['full']);
    const released: Asked = { act: 'release', participant: 'p2', holder: HERE, by: THERE };
    assert.deepEqual(change(plan, [released, take('p3')], cut).decisions, ['taken', 'full']);
    assert.deepEqual(change(plan, [released, take('p3')], { ...cut, restMs: REST_MS }).decisions, [
      'taken',
      'taken',
    ]);
  });

  it('[HOME-4] where there is no other region, a freed seat is given at once', () => {
    const { plan } = change(EMPTY, [take('p1'), free('p1')], { restMs: 0 });
    assert.deepEqual(change(plan, [take('p2')], { restMs: 0 }).decisions, ['taken']);
  });

  it('[HOME-3] only the seat of the process that is named is released', () => {
    const { plan } = change(EMPTY, [{ ...take('p1'), by: THERE }]);
    for (const holder of [HERE, { ...THERE, boot: THERE.boot + 1 }])
      assert.equal(change(plan, [{ act: 'release', participant: 'p1', holder }]).plan, plan);
  });

  it('[HOME-3] a seat is not released on the word of another region where its process may live', () => {
    const { plan } = change(EMPTY, [{ ...take('p1'), by: THERE }]);
    const released: Asked = { act: 'release', participant: 'p1', holder: THERE };
    assert.equal(change(plan, [released], { mayLive: () => true }).plan, plan);
    assert.deepEqual(change(plan, [released]).plan.seats, []);
  });

  it('[HOME-5] a participant that resumed finds no seat beyond the cap; an owner finds one', () => {
    const { plan } = change(EMPTY, [take('p1')]);
    assert.deepEqual(change(plan, [claim('p2')]).decisions, ['full']);
    assert.deepEqual(change(plan, [{ ...claim('p2'), owner: true }]).decisions, ['taken']);
  });

  it('[MOD-7] a pod frees its own seats, and hands over its own seats', () => {
    const { plan } = change(EMPTY, [take('p1')]);
    assert.equal(change(plan, [free('p1', THERE)]).plan, plan);
    const handed = change(plan, [{ act: 'claim', participant: 'p1', holder: THERE }]);
    assert.deepEqual(handed.plan.seats, [{ participant: 'p1', ...THERE }]);
    assert.equal(change(handed.plan, [{ act: 'claim', participant: 'p1', holder: HERE }]).plan, handed.plan);
  });
});
