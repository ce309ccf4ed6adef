import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PageWorld } from '../support/page-world.ts';
import { EXACT_MS, OTHER, PAGE } from '../support/page-steps.ts';

describe('directed messages between visitors', () => {
  test('[PAGE-9] arrive on one pod and over the bus, and an unknown receiver is reported', () => {
    const world = new PageWorld();
    const [ada, near, far] = [world.arrive('a'), world.arrive('a'), world.arrive('b')];
    world.advance(EXACT_MS);
    world.sendDirected(ada, near.id, 'near');
    world.sendDirected(ada, far.id, 'far');
    world.advance(100);
    assert.deepEqual(near.directed, [{ from: ada.id, text: 'near' }]);
    assert.deepEqual(far.directed, [{ from: ada.id, text: 'far' }]);
    world.leave(far);
    world.sendDirected(ada, far.id, 'gone');
    world.sendDirected(ada, `v${'0'.repeat(16)}`, 'nobody');
    world.advance(100);
    const reasons = ada.messages.flatMap((one) =>
      one.type === 'undelivered' ? [`${one.id} ${one.reason}`] : [],
    );
    assert.deepEqual(reasons.toSorted(), ['gone unknown', 'nobody unknown']);
  });

  test('[PAGE-9] a slow receiver does not get a message, and its sender is notified, on one pod and over the bus', () => {
    const world = new PageWorld();
    const [ada, near, far] = [world.arrive('a'), world.arrive('a'), world.arrive('b')];
    world.advance(EXACT_MS);
    near.slow = true;
    far.slow = true;
    world.sendDirected(ada, near.id, 'near');
    world.sendDirected(ada, far.id, 'far');
    world.advance(3000);
    assert.deepEqual([...near.directed, ...far.directed], []);
    const reasons = ada.messages.flatMap((one) =>
      one.type === 'undelivered' ? [`${one.id} ${one.reason}`] : [],
    );
    assert.deepEqual(reasons, ['near slow', 'far slow']);
  });

  test('[PAGE-9] [DIR-5] no answer from its pod: timeout, within 2 s', () => {
    const world = new PageWorld();
    const [ada, far] = [world.arrive('a'), world.arrive('b')];
    world.advance(EXACT_MS);
    world.loses = 1;
    world.sendDirected(ada, far.id, 'lost');
    world.advance(2000);
    assert.ok(ada.messages.some((one) => one.type === 'undelivered' && one.reason === 'timeout'));
  });
});

describe('limits', () => {
  test('[PAGE-6] page.perVisitor: one more page is refused, the others stay', () => {
    const world = new PageWorld({ limits: { 'page.perVisitor': 2 } });
    const ada = world.arrive('a');
    world.announce(ada, PAGE);
    world.announce(ada, OTHER);
    world.subscribe(ada, '0'.repeat(64));
    assert.deepEqual(ada.refused, ['TOO_MANY_PAGES']);
    world.drop(ada, OTHER);
    world.subscribe(ada, '0'.repeat(64));
    assert.deepEqual(ada.refused, ['TOO_MANY_PAGES']);
  });

  test('[PAGE-2] page.bytes: a larger page is refused', () => {
    const world = new PageWorld();
    const ada = world.arrive('a');
    world.announce(ada, PAGE, { bytes: world.limits['page.bytes'] + 1 });
    assert.deepEqual(ada.refused, ['PAGE_TOO_LARGE']);
    assert.equal(world.pods.get('a')?.core.counts().pages, 0);
  });

  test('[PAGE-7] address.openPages: a network opens no more pages until one is gone; other networks do, and an open page is available to all', () => {
    const [third, fourth] = ['3'.repeat(64), '4'.repeat(64)];
    const world = new PageWorld({ limits: { 'address.openPages': 2 } });
    const [greedy, same] = [world.arrive('a', 'here'), world.arrive('a', 'here')];
    const other = world.arrive('a', 'there');
    world.announce(greedy, PAGE);
    world.announce(greedy, OTHER);
    world.announce(same, third);
    assert.deepEqual(same.refused, ['TOO_MANY_PAGE_REQUESTS']);
    world.announce(same, PAGE);
    world.announce(other, third);
    world.drop(greedy, OTHER);
    world.advance(3000);
    world.announce(same, fourth);
    assert.deepEqual(
      [greedy, same, other].map(({ refused }) => refused.length),
      [0, 1, 0],
    );
  });

  test('[PAGE-7] pod.pages: one more page is refused, existing pages are not', () => {
    const world = new PageWorld({ limits: { 'pod.pages': 1 } });
    const [ada, bo] = [world.arrive('a'), world.arrive('a')];
    world.announce(ada, PAGE);
    world.subscribe(bo, OTHER);
    world.subscribe(bo, PAGE);
    assert.deepEqual(bo.refused, ['POD_FULL']);
    assert.equal(bo.given(PAGE).length, 1);
  });
});
