import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PageWorld } from '../support/page-world.ts';
import { EXACT_MS, lastCount, OTHER, PAGE } from '../support/page-steps.ts';

describe('pods die', () => {
  test('[PAGE-12] [PAGE-13] with their visitors; no visitor is told that the page is gone while they may be moving to another pod', () => {
    const world = new PageWorld();
    const [ada, bo] = [world.arrive('a'), world.arrive('b')];
    world.announce(ada, PAGE);
    world.subscribe(bo, PAGE);
    world.advance(EXACT_MS);
    world.kill('a');
    world.advance(5000);
    assert.equal(lastCount(bo), '0+1?');
    const back = world.arrive('b');
    world.announce(back, PAGE);
    world.advance(world.limits['page.settleTime'] + EXACT_MS);
    assert.equal(lastCount(bo), '1+1');
    world.leave(back);
    world.advance(EXACT_MS);
    assert.equal(lastCount(bo), '0+1');
  });

  test('[PAGE-13] no page is gone for a pod that has just started: the visitors of its earlier process may be moving', () => {
    const world = new PageWorld({ pods: ['a'] });
    world.announce(world.arrive('a'), PAGE);
    world.kill('a');
    world.start('a');
    const bo = world.arrive('a');
    world.subscribe(bo, PAGE);
    world.advance(3000);
    assert.equal(lastCount(bo), '0+1?');
    world.announce(world.arrive('a'), PAGE);
    world.advance(EXACT_MS);
    assert.equal(bo.given(PAGE).length, 1);
  });

  test('[PAGE-13] no page is gone for a visitor that comes just after a pod died, before or after the others know it', () => {
    for (const afterMs of [100, 2000, 4000]) {
      const world = new PageWorld({ pods: ['a', 'b', 'c'] });
      world.announce(world.arrive('a'), PAGE);
      world.advance(EXACT_MS);
      world.kill('a');
      world.advance(afterMs);
      const bo = world.arrive('b');
      world.subscribe(bo, PAGE);
      world.advance(8000);
      assert.equal(lastCount(bo), '0+1?', `${afterMs} ms after it`);
      world.advance(10_000);
      assert.equal(lastCount(bo), '0+1');
    }
  });

  test('[PAGE-13] no page is gone while a region may be cut off: its holders may live', () => {
    const world = new PageWorld({ pods: ['eu_a', 'us_a'] });
    const [ada, bo] = [world.arrive('us_a'), world.arrive('eu_a')];
    world.announce(ada, PAGE);
    world.subscribe(bo, PAGE);
    world.advance(EXACT_MS);
    world.cut('eu_a', 'us_a');
    world.setRegionsMissing('eu_a', true);
    world.advance(60_000);
    assert.equal(lastCount(bo), '0+1?');
    const cy = world.arrive('eu_a');
    world.subscribe(cy, OTHER);
    world.advance(5000);
    assert.equal(lastCount(cy, OTHER), '0+1?', 'a page that this region never knew');
    world.heal('eu_a', 'us_a');
    world.advance(EXACT_MS);
    assert.equal(lastCount(bo), '1+1?');
    world.setRegionsMissing('eu_a', false);
    world.advance(world.limits['page.settleTime']);
    assert.equal(lastCount(bo), '1+1');
    assert.equal(lastCount(cy, OTHER), '0+1');
  });

  test('[PAGE-13] what other regions published in a gap is asked for, before a page counts as gone', () => {
    const world = new PageWorld({ pods: ['eu_a', 'us_a'] });
    const ada = world.arrive('us_a');
    world.announce(ada, PAGE);
    world.advance(EXACT_MS);
    world.cut('eu_a', 'us_a');
    world.advance(500);
    const bo = world.arrive('eu_a');
    world.subscribe(bo, PAGE);
    // All requests for the page are lost, and the silence is shorter than that of a dead pod.
    world.advance(1200);
    world.setRegionsMissing('eu_a', true);
    world.advance(300);
    world.heal('eu_a', 'us_a');
    world.advance(EXACT_MS);
    assert.equal(lastCount(bo), '0+1?');
    world.setRegionsMissing('eu_a', false);
    world.advance(EXACT_MS);
    assert.equal(lastCount(bo), '1+1');
    assert.deepEqual(bo.given(PAGE), [{ visitor: ada.id, whole: true }]);
    const isGone = bo.messages.some((one) => one.type === 'count' && one.settled && one.holders === 0);
    assert.ok(!isGone);
  });

  test('[PAGE-13] no page is gone while a pod drains', () => {
    const world = new PageWorld();
    const [ada, bo] = [world.arrive('a'), world.arrive('b')];
    world.announce(ada, PAGE);
    world.subscribe(bo, PAGE);
    world.advance(EXACT_MS);
    world.announceLeaving('a');
    world.advance(100);
    world.leave(ada);
    world.announceLeft('a');
    world.kill('a');
    world.advance(1000);
    assert.equal(lastCount(bo), '0+1?');
    world.announce(world.arrive('b'), PAGE);
    // Other visitors may still be moving.
    world.advance(5000);
    assert.equal(lastCount(bo), '1+1?');
    world.advance(world.limits['page.settleTime']);
    assert.equal(lastCount(bo), '1+1');
  });

  test('[PAGE-10] a pod whose last messages were lost counts no more after some time, however busy the page is', () => {
    const world = new PageWorld();
    const [ada, bo] = [world.arrive('a'), world.arrive('b')];
    world.announce(ada, PAGE);
    world.subscribe(bo, PAGE);
    world.advance(EXACT_MS);
    world.cut('a', 'b');
    world.leave(ada);
    world.advance(2500);
    world.heal('a', 'b');
    const busy = world.arrive('b');
    for (let nth = 0; nth < 12; nth += 1) {
      world.subscribe(busy, PAGE);
      world.advance(2500);
      world.drop(busy, PAGE);
      world.advance(2500);
    }
    assert.equal(lastCount(bo), '0+1');
  });

  test('[PAGE-12] after its link was lost a pod requests a thousand pages in batches, and knows every one in the end', () => {
    const world = new PageWorld({ limits: { 'page.perVisitor': 1200, 'address.openPages': 1200 } });
    const pages = Array.from({ length: 1200 }, (_, nth) => nth.toString(16).padStart(64, '0'));
    const [ada, bo] = [world.arrive('a'), world.arrive('b')];
    for (const page of pages) {
      world.announce(ada, page);
      world.subscribe(bo, page);
    }
    world.advance(EXACT_MS);
    world.unplug('b');
    world.advance(5000);
    for (const page of pages) assert.equal(lastCount(bo, page), '1+1?');
    world.plug('b');
    const before = world.sent;
    world.advance(50);
    const first = world.sent - before;
    assert.ok(first > 500 && first < 3500, `${first} messages in the first moment`);
    // The last batch follows 0.2 s after the first.
    world.advance(EXACT_MS + 200);
    for (const page of pages) assert.equal(lastCount(bo, page), '1+1');
  });

  test('[PAGE-13] a visitor that leaves while the link is lost is not counted after it is restored', () => {
    const world = new PageWorld();
    const [ada, bo, cy] = [world.arrive('a'), world.arrive('b'), world.arrive('b')];
    world.subscribe(ada, PAGE);
    world.announce(bo, PAGE);
    world.subscribe(cy, PAGE);
    world.advance(EXACT_MS);
    assert.equal(lastCount(ada), '1+2');
    world.unplug('b');
    world.leave(bo);
    world.leave(cy);
    // Too short for a pod to be considered dead.
    world.advance(2300);
    world.plug('b');
    world.advance(EXACT_MS + world.limits['page.settleTime']);
    assert.equal(lastCount(ada), '0+1');
  });

  test('[PAGE-13] no page is gone without a link to the bus; what ended meanwhile is known 2 s after it is restored', () => {
    const world = new PageWorld({ pods: ['a', 'b', 'c'] });
    const [ada, bo, cy] = [world.arrive('a'), world.arrive('b'), world.arrive('b')];
    world.announce(ada, PAGE);
    world.subscribe(bo, PAGE);
    world.advance(EXACT_MS);
    world.unplug('b');
    world.subscribe(cy, OTHER);
    world.leave(ada);
    world.advance(10_000);
    assert.equal(lastCount(cy, OTHER), '0+1?');
    assert.equal(lastCount(bo), '1+1?');
    world.plug('b');
    world.advance(EXACT_MS + 1000);
    assert.deepEqual([lastCount(bo), lastCount(cy, OTHER)], ['0+1', '0+1']);
  });

  test('[PAGE-12] pods that considered each other dead request sections again when messages arrive', () => {
    const world = new PageWorld();
    const [ada, bo] = [world.arrive('a'), world.arrive('b')];
    world.announce(ada, PAGE);
    world.subscribe(bo, PAGE);
    world.advance(EXACT_MS);
    world.cut('a', 'b');
    world.advance(20_000);
    assert.equal(lastCount(bo), '0+1');
    world.heal('a', 'b');
    world.advance(EXACT_MS + 1000);
    assert.equal(lastCount(bo), '1+1');
  });

  test('[PAGE-12] a later process of a pod ends the sections of its earlier one', () => {
    const world = new PageWorld();
    world.announce(world.arrive('a'), PAGE);
    const bo = world.arrive('b');
    world.subscribe(bo, PAGE);
    world.advance(EXACT_MS);
    world.kill('a');
    world.start('a');
    world.advance(EXACT_MS);
    assert.equal(lastCount(bo), '0+1?');
    assert.equal(bo.visitors, 1);
  });
});
