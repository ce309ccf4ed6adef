import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultLimits, type Limits } from '@parley/protocol/limits';
import { Slots, type Later } from '../../src/server/slots.ts';

const ADA = '203.0.113.1';

function slotsOf(limits: Partial<Limits> = {}, fraction = 0): Slots {
  let last = 0;
  const id = (): string => `slot-${(last += 1)}`;
  const all = defaultLimits({ 'pod.joins': 10, 'address.joins': 1000, ...limits });
  const slots = new Slots(all, { fraction: () => fraction, id }, 0);
  while (slots.pace.take(0));
  return slots;
}

function later(slots: Slots, { now = 0, arrivalsMs = 0, address = ADA } = {}): Later {
  const answer = slots.ask(address, arrivalsMs, now);
  assert.ok(answer !== undefined, 'the join continued');
  return answer;
}

describe('[JOIN-15] slots', () => {
  test('[LIM-13] joins within the pace need none (pod.joins)', () => {
    const slots = slotsOf();
    assert.equal(slots.ask(ADA, 0, 1000), undefined);
    assert.deepEqual([slots.size, slots.given], [0, 0]);
  });

  test('[JOIN-15] have times one after the other, at the pace of joins', () => {
    const slots = slotsOf();
    const times = Array.from({ length: 20 }, () => later(slots).retryAfterMs);
    assert.deepEqual(
      times.map((time) => time - (times[0] ?? 0)),
      Array.from({ length: 20 }, (_, place) => 100 * place),
    );
    assert.ok((times[0] ?? 0) <= 100);
  });

  test('[JOIN-15] are jittered within their interval', () => {
    const [first, second] = [slotsOf(), slotsOf({}, 0.99)].map((slots) => later(slots).retryAfterMs);
    assert.equal((second ?? 0) - (first ?? 0), 99);
  });

  test('[JOIN-15] begin after the sockets that wait, also where the pace would allow a join', () => {
    const slots = slotsOf();
    assert.equal(later(slots, { now: 1000, arrivalsMs: 5000 }).retryAfterMs, 5000);
    assert.equal(later(slots, { now: 1000, arrivalsMs: 3000 }).retryAfterMs, 5100);
  });

  test('[JOIN-15] a newcomer does not pass those with a slot', () => {
    const slots = slotsOf();
    later(slots, { arrivalsMs: 5000 });
    assert.equal(later(slots, { now: 4000 }).retryAfterMs, 1100);
    assert.equal(slots.ask(ADA, 0, 6000), undefined);
  });

  test('[JOIN-15] a slot serves once, from its time on', () => {
    const slots = slotsOf();
    const { slot = '', retryAfterMs } = later(slots);
    assert.equal(slots.redeem(slot, retryAfterMs), 'due');
    assert.equal(slots.redeem(slot, retryAfterMs), undefined);
  });

  test('[JOIN-15] before its time it is kept, with the time that remains, and no other is given', () => {
    const slots = slotsOf();
    const { slot = '' } = later(slots, { arrivalsMs: 5000 });
    assert.deepEqual(slots.redeem(slot, 2000), { retryAfterMs: 3000, slot });
    assert.equal(slots.given, 1);
    assert.equal(slots.redeem(slot, 5000), 'due');
  });

  test('[JOIN-15] is valid for `slot.keep` and then forgotten (slot.keep)', () => {
    const slots = slotsOf({ 'slot.keep': 1000 });
    const [first, second] = [later(slots, { arrivalsMs: 5000 }), later(slots, { arrivalsMs: 5000 })];
    assert.equal(slots.redeem(first.slot ?? '', 6001), undefined);
    assert.equal(slots.redeem(second.slot ?? '', 6100), 'due');
    assert.equal(slots.size, 0);
  });

  test('[JOIN-15] one that is unknown counts as none', () => {
    assert.equal(slotsOf().redeem('slot-9', 0), undefined);
  });

  test('[JOIN-15] beyond the limit the answer has a time, after all slots, and no slot (pod.slots)', () => {
    const slots = slotsOf({ 'pod.slots': 3 });
    const answers = Array.from({ length: 6 }, () => later(slots));
    assert.deepEqual(
      answers.map(({ slot }) => slot !== undefined),
      [true, true, true, false, false, false],
    );
    assert.ok((answers[5]?.retryAfterMs ?? 0) > (answers[2]?.retryAfterMs ?? 0));
    assert.deepEqual([slots.size, slots.given], [3, 3]);
  });

  test('[JOIN-15] those without a slot do not all come at once (pod.slots)', () => {
    const [first, last] = [slotsOf({ 'pod.slots': 0 }), slotsOf({ 'pod.slots': 0 }, 0.999)].map(
      (slots) => later(slots, { arrivalsMs: 10_000 }).retryAfterMs,
    );
    assert.deepEqual([first, last], [10_000, 14_995]);
  });

  test('[JOIN-15] an address holds no more slots than it may join in a minute, and takes no place of others (address.joins)', () => {
    const slots = slotsOf({ 'address.joins': 2 });
    const answers = Array.from({ length: 4 }, () => later(slots));
    assert.deepEqual(
      answers.map(({ slot }) => slot !== undefined),
      [true, true, false, false],
    );
    const other = later(slots, { address: '203.0.113.2' });
    assert.equal(other.retryAfterMs - (answers[1]?.retryAfterMs ?? 0), 100);
    assert.equal(slots.redeem(answers[0]?.slot ?? '', 1000), 'due');
    assert.ok(later(slots, { arrivalsMs: 5000 }).slot !== undefined);
  });

  test('[JOIN-15] an address whose slots were not used may have slots again', () => {
    const slots = slotsOf({ 'address.joins': 1, 'slot.keep': 1000 });
    assert.ok(later(slots).slot !== undefined);
    assert.ok(later(slots).slot === undefined);
    assert.ok(later(slots, { now: 5000, arrivalsMs: 1000 }).slot !== undefined);
  });
});
