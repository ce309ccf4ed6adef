import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PageWorld, type Tab } from '../support/page-world.ts';

const PAGE = 'c0ffee00'.repeat(8);
const OTHER = 'deadbeef'.repeat(8);
/** PAGE-8: within this of the last change every count is exact. */
const EXACT_MS = 2000;

const last = (tab: Tab, page = PAGE): string => {
  const { holders, readers, settled } = tab.count(page) ?? { holders: -1, readers: -1, settled: false };
  return `${holders}+${readers}${settled ? '' : '?'}`;
};

describe('holders are found and counted', () => {
  test('[PAGE-6] on the same pod at once, on another pod as soon as it has answered', () => {
    const world = new PageWorld();
    const ada = world.arrive('a');
    world.hold(ada, PAGE);
    const near = world.arrive('a');
    world.want(near, PAGE);
    assert.deepEqual(near.given(PAGE), [{ visitor: ada.id, whole: true }]);
    const far = world.arrive('b');
    world.want(far, PAGE);
    assert.deepEqual(far.given(PAGE), []);
    world.advance(400);
    assert.deepEqual(
      far.given(PAGE).map(({ visitor }) => visitor),
      [ada.id],
    );
    world.advance(EXACT_MS);
    assert.deepEqual(
      [ada, near, far].map((tab) => last(tab)),
      ['1+2', '1+2', '1+2'],
    );
  });

  test('[PAGE-6] a reader gets no candidate twice, and readers are candidates as well', () => {
    const world = new PageWorld();
    const [ada, bo, cy] = [world.arrive('a'), world.arrive('a'), world.arrive('b')];
    world.hold(ada, PAGE);
    world.hold(bo, PAGE, { whole: false });
    world.want(cy, PAGE, [ada.id]);
    world.advance(EXACT_MS);
    assert.deepEqual(cy.given(PAGE), [{ visitor: bo.id, whole: false }]);
  });

  for (const pod of ['a', 'b']) {
    test(`[PAGE-6] of many holders a few are selected at random, but one of every network before a second of any: on ${pod === 'a' ? 'their' : 'another'} pod`, () => {
      const world = new PageWorld({ limits: { 'page.maxHolders': 4 } });
      for (let nth = 0; nth < 500; nth += 1) world.hold(world.arrive('a', 'one network'), PAGE);
      const others = ['b', 'c', 'd'].map((network) => world.arrive('a', network));
      for (const other of others) world.hold(other, PAGE);
      const seen = new Set<string>();
      for (let nth = 0; nth < 40; nth += 1) {
        const tab = world.arrive(pod);
        world.want(tab, PAGE);
        world.advance(EXACT_MS);
        const given = tab.given(PAGE).map(({ visitor }) => visitor);
        assert.equal(new Set(given).size, 4);
        for (const { id } of others) assert.ok(given.includes(id));
        for (const visitor of given) seen.add(visitor);
        world.drop(tab, PAGE);
      }
      // At random: one that is not among the three, and mostly a different one each time, where this pod draws the names.
      assert.ok(seen.size > (pod === 'a' ? 30 : 5), `${seen.size} in 40 times`);
    });
  }

  test('[PAGE-6] one with the whole page comes first, however many others have a part', () => {
    const world = new PageWorld();
    for (let nth = 0; nth < 300; nth += 1) world.hold(world.arrive('a'), PAGE, { whole: false });
    const ada = world.arrive('a');
    world.hold(ada, PAGE);
    for (let nth = 0; nth < 20; nth += 1) {
      const tab = world.arrive('a');
      world.want(tab, PAGE);
      assert.deepEqual(tab.given(PAGE)[0], { visitor: ada.id, whole: true });
    }
  });

  test('[PAGE-6] a reader that wants more candidates than there are gets later ones', () => {
    const world = new PageWorld();
    const ada = world.arrive('b');
    world.want(ada, PAGE);
    world.advance(5000);
    assert.deepEqual(ada.given(PAGE), []);
    const bo = world.arrive('a');
    world.hold(bo, PAGE);
    world.advance(EXACT_MS);
    assert.deepEqual(
      ada.given(PAGE).map(({ visitor }) => visitor),
      [bo.id],
    );
  });

  test('[PAGE-8] a page without holders is gone, and back with the next holder', () => {
    const world = new PageWorld();
    const [ada, bo] = [world.arrive('a'), world.arrive('b')];
    world.hold(ada, PAGE);
    world.want(bo, PAGE);
    world.advance(EXACT_MS);
    world.leave(ada);
    world.advance(EXACT_MS);
    assert.equal(last(bo), '0+1');
    const cy = world.arrive('a');
    world.hold(cy, PAGE);
    world.advance(EXACT_MS);
    assert.equal(last(bo), '1+1');
  });

  test('[PAGE-8] a thousand arrivals cause few messages to each visitor, and the last count is exact', () => {
    const world = new PageWorld();
    const tabs: Tab[] = [];
    for (let nth = 0; nth < 880; nth += 1) {
      const tab = world.arrive(nth % 2 === 0 ? 'a' : 'b');
      world.hold(tab, PAGE);
      tabs.push(tab);
      world.advance(10);
    }
    world.advance(EXACT_MS);
    assert.ok(tabs.every((tab) => last(tab) === '880+0' && tab.visitors === 880));
    const messages = tabs.reduce((sum, tab) => sum + tab.messages.length, 0) / tabs.length;
    assert.ok(messages < 25, `${messages} messages to each`);
    for (const tab of tabs.splice(0, 440)) world.leave(tab);
    world.advance(EXACT_MS);
    assert.ok(tabs.every((tab) => last(tab) === '440+0' && tab.visitors === 440));
  });

  test('[PAGE-8] a visitor that came while another left gets the count too, where the others need not', () => {
    const world = new PageWorld();
    const [ada, bo] = [world.arrive('a'), world.arrive('a')];
    world.hold(ada, PAGE);
    world.want(bo, PAGE);
    world.advance(5000);
    const before = ada.messages.length;
    const cy = world.arrive('a');
    world.want(cy, PAGE);
    world.leave(bo);
    world.advance(EXACT_MS);
    assert.equal(last(cy), '1+1');
    assert.equal(cy.visitors, 2);
    assert.ok(ada.messages.length <= before + 2, 'no visitor gets a count twice');
  });

  test('[PAGE-11] a pod unsubscribes from a page without visitors here, which then costs nothing', () => {
    const world = new PageWorld();
    const ada = world.arrive('a');
    world.hold(ada, PAGE);
    world.advance(EXACT_MS);
    assert.equal(world.pods.get('a')?.listening.has(PAGE), true);
    world.drop(ada, PAGE);
    world.advance(3000);
    assert.deepEqual([...(world.pods.get('a')?.listening ?? [])], []);
    assert.deepEqual(world.pods.get('a')?.core.counts(), { visitors: 1, pages: 0, held: 0 });
  });
});

describe('pods die', () => {
  test('[PAGE-12] [PAGE-13] with their visitors; no visitor is told that the page is gone while they may be moving to another pod', () => {
    const world = new PageWorld();
    const [ada, bo] = [world.arrive('a'), world.arrive('b')];
    world.hold(ada, PAGE);
    world.want(bo, PAGE);
    world.advance(EXACT_MS);
    world.kill('a');
    world.advance(5000);
    assert.equal(last(bo), '0+1?');
    const back = world.arrive('b');
    world.hold(back, PAGE);
    world.advance(world.limits['page.settleTime'] + EXACT_MS);
    assert.equal(last(bo), '1+1');
    world.leave(back);
    world.advance(EXACT_MS);
    assert.equal(last(bo), '0+1');
  });

  test('[PAGE-13] no page is gone for a pod that has just started: the visitors of its earlier process may be moving', () => {
    const world = new PageWorld({ pods: ['a'] });
    world.hold(world.arrive('a'), PAGE);
    world.kill('a');
    world.start('a');
    const bo = world.arrive('a');
    world.want(bo, PAGE);
    world.advance(3000);
    assert.equal(last(bo), '0+1?');
    world.hold(world.arrive('a'), PAGE);
    world.advance(EXACT_MS);
    assert.equal(bo.given(PAGE).length, 1);
  });

  test('[PAGE-13] no page is gone for a visitor that comes just after a pod died, before or after the others know it', () => {
    for (const afterMs of [100, 2000, 4000]) {
      const world = new PageWorld({ pods: ['a', 'b', 'c'] });
      world.hold(world.arrive('a'), PAGE);
      world.advance(EXACT_MS);
      world.kill('a');
      world.advance(afterMs);
      const bo = world.arrive('b');
      world.want(bo, PAGE);
      world.advance(8000);
      assert.equal(last(bo), '0+1?', `${afterMs} ms after it`);
      world.advance(10_000);
      assert.equal(last(bo), '0+1');
    }
  });

  test('[PAGE-13] no page is gone while a pod drains', () => {
    const world = new PageWorld();
    const [ada, bo] = [world.arrive('a'), world.arrive('b')];
    world.hold(ada, PAGE);
    world.want(bo, PAGE);
    world.advance(EXACT_MS);
    world.announceLeaving('a');
    world.advance(100);
    world.leave(ada);
    world.announceLeft('a');
    world.kill('a');
    world.advance(1000);
    assert.equal(last(bo), '0+1?');
    world.hold(world.arrive('b'), PAGE);
    // Other visitors may still be moving.
    world.advance(5000);
    assert.equal(last(bo), '1+1?');
    world.advance(world.limits['page.settleTime']);
    assert.equal(last(bo), '1+1');
  });

  test('[PAGE-10] a pod whose last messages were lost counts no more after some time, however busy the page is', () => {
    const world = new PageWorld();
    const [ada, bo] = [world.arrive('a'), world.arrive('b')];
    world.hold(ada, PAGE);
    world.want(bo, PAGE);
    world.advance(EXACT_MS);
    world.cut('a', 'b');
    world.leave(ada);
    world.advance(2500);
    world.heal('a', 'b');
    const busy = world.arrive('b');
    for (let nth = 0; nth < 12; nth += 1) {
      world.want(busy, PAGE);
      world.advance(2500);
      world.drop(busy, PAGE);
      world.advance(2500);
    }
    assert.equal(last(bo), '0+1');
  });

  test('[PAGE-12] after its link was lost a pod requests a thousand pages in batches, and knows every one in the end', () => {
    const world = new PageWorld({ limits: { 'page.perVisitor': 1200, 'address.openPages': 1200 } });
    const pages = Array.from({ length: 1200 }, (_, nth) => nth.toString(16).padStart(64, '0'));
    const [ada, bo] = [world.arrive('a'), world.arrive('b')];
    for (const page of pages) {
      world.hold(ada, page);
      world.want(bo, page);
    }
    world.advance(EXACT_MS);
    world.unplug('b');
    world.advance(5000);
    for (const page of pages) assert.equal(last(bo, page), '1+1?');
    world.plug('b');
    const before = world.sent;
    world.advance(50);
    const first = world.sent - before;
    assert.ok(first > 500 && first < 3500, `${first} messages in the first moment`);
    // The last batch follows 0.2 s after the first.
    world.advance(EXACT_MS + 200);
    for (const page of pages) assert.equal(last(bo, page), '1+1');
  });

  test('[PAGE-13] a visitor that leaves while the link is lost is not counted after it is restored', () => {
    const world = new PageWorld();
    const [ada, bo, cy] = [world.arrive('a'), world.arrive('b'), world.arrive('b')];
    world.want(ada, PAGE);
    world.hold(bo, PAGE);
    world.want(cy, PAGE);
    world.advance(EXACT_MS);
    assert.equal(last(ada), '1+2');
    world.unplug('b');
    world.leave(bo);
    world.leave(cy);
    // Too short for a pod to be considered dead.
    world.advance(2300);
    world.plug('b');
    world.advance(EXACT_MS + world.limits['page.settleTime']);
    assert.equal(last(ada), '0+1');
  });

  test('[PAGE-13] no page is gone without a link to the bus; what ended meanwhile is known 2 s after it is restored', () => {
    const world = new PageWorld({ pods: ['a', 'b', 'c'] });
    const [ada, bo, cy] = [world.arrive('a'), world.arrive('b'), world.arrive('b')];
    world.hold(ada, PAGE);
    world.want(bo, PAGE);
    world.advance(EXACT_MS);
    world.unplug('b');
    world.want(cy, OTHER);
    world.leave(ada);
    world.advance(10_000);
    assert.equal(last(cy, OTHER), '0+1?');
    assert.equal(last(bo), '1+1?');
    world.plug('b');
    world.advance(EXACT_MS + 1000);
    assert.deepEqual([last(bo), last(cy, OTHER)], ['0+1', '0+1']);
  });

  test('[PAGE-12] pods that considered each other dead request sections again when messages arrive', () => {
    const world = new PageWorld();
    const [ada, bo] = [world.arrive('a'), world.arrive('b')];
    world.hold(ada, PAGE);
    world.want(bo, PAGE);
    world.advance(EXACT_MS);
    world.cut('a', 'b');
    world.advance(20_000);
    assert.equal(last(bo), '0+1');
    world.heal('a', 'b');
    world.advance(EXACT_MS + 1000);
    assert.equal(last(bo), '1+1');
  });

  test('[PAGE-12] a later process of a pod ends the sections of its earlier one', () => {
    const world = new PageWorld();
    world.hold(world.arrive('a'), PAGE);
    const bo = world.arrive('b');
    world.want(bo, PAGE);
    world.advance(EXACT_MS);
    world.kill('a');
    world.start('a');
    world.advance(EXACT_MS);
    assert.equal(last(bo), '0+1?');
    assert.equal(bo.visitors, 1);
  });
});

describe('directed messages between visitors', () => {
  test('[PAGE-9] arrive on one pod and over the bus, and an unknown receiver is reported', () => {
    const world = new PageWorld();
    const [ada, near, far] = [world.arrive('a'), world.arrive('a'), world.arrive('b')];
    world.advance(EXACT_MS);
    world.tell(ada, near.id, 'near');
    world.tell(ada, far.id, 'far');
    world.advance(100);
    assert.deepEqual(near.directed, [{ from: ada.id, text: 'near' }]);
    assert.deepEqual(far.directed, [{ from: ada.id, text: 'far' }]);
    world.leave(far);
    world.tell(ada, far.id, 'gone');
    world.tell(ada, `v${'0'.repeat(16)}`, 'nobody');
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
    world.tell(ada, near.id, 'near');
    world.tell(ada, far.id, 'far');
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
    world.tell(ada, far.id, 'lost');
    world.advance(2000);
    assert.ok(ada.messages.some((one) => one.type === 'undelivered' && one.reason === 'timeout'));
  });
});

describe('limits', () => {
  test('[PAGE-6] page.perVisitor: one more page is refused, the others stay', () => {
    const world = new PageWorld({ limits: { 'page.perVisitor': 2 } });
    const ada = world.arrive('a');
    world.hold(ada, PAGE);
    world.hold(ada, OTHER);
    world.want(ada, '0'.repeat(64));
    assert.deepEqual(ada.refused, ['TOO_MANY_PAGES']);
    world.drop(ada, OTHER);
    world.want(ada, '0'.repeat(64));
    assert.deepEqual(ada.refused, ['TOO_MANY_PAGES']);
  });

  test('[PAGE-2] page.bytes: a larger page is refused', () => {
    const world = new PageWorld();
    const ada = world.arrive('a');
    world.hold(ada, PAGE, { bytes: world.limits['page.bytes'] + 1 });
    assert.deepEqual(ada.refused, ['PAGE_TOO_LARGE']);
    assert.equal(world.pods.get('a')?.core.counts().pages, 0);
  });

  test('[PAGE-7] address.openPages: a network opens no more pages until one is gone; other networks do, and an open page is available to all', () => {
    const [third, fourth] = ['3'.repeat(64), '4'.repeat(64)];
    const world = new PageWorld({ limits: { 'address.openPages': 2 } });
    const [greedy, same] = [world.arrive('a', 'here'), world.arrive('a', 'here')];
    const other = world.arrive('a', 'there');
    world.hold(greedy, PAGE);
    world.hold(greedy, OTHER);
    world.hold(same, third);
    assert.deepEqual(same.refused, ['TOO_MANY_PAGE_REQUESTS']);
    world.hold(same, PAGE);
    world.hold(other, third);
    world.drop(greedy, OTHER);
    world.advance(3000);
    world.hold(same, fourth);
    assert.deepEqual(
      [greedy, same, other].map(({ refused }) => refused.length),
      [0, 1, 0],
    );
  });

  test('[PAGE-7] pod.pages: one more page is refused, existing pages are not', () => {
    const world = new PageWorld({ limits: { 'pod.pages': 1 } });
    const [ada, bo] = [world.arrive('a'), world.arrive('a')];
    world.hold(ada, PAGE);
    world.want(bo, OTHER);
    world.want(bo, PAGE);
    assert.deepEqual(bo.refused, ['POD_FULL']);
    assert.equal(bo.given(PAGE).length, 1);
  });
});

const CHANGES = [
  { what: 'comes', afterwards: '1+3', happens: (world: PageWorld) => world.want(world.arrive('c'), PAGE) },
  { what: 'holds', afterwards: '2+1', happens: (world: PageWorld, _: Tab, bo: Tab) => world.hold(bo, PAGE) },
  { what: 'drops', afterwards: '0+2', happens: (world: PageWorld, ada: Tab) => world.drop(ada, PAGE) },
  { what: 'goes', afterwards: '0+2', happens: (world: PageWorld, ada: Tab) => world.leave(ada) },
] as const;

for (const { what, afterwards, happens } of CHANGES) {
  test(`[BUS-4] [PAGE-8] whichever message is lost, 2 s later every count is exact: a visitor ${what}`, () => {
    let inFlight = Infinity;
    for (let nth = 1; nth <= inFlight; nth += 1) {
      const world = new PageWorld({ pods: ['a', 'b', 'c'] });
      const [ada, bo] = [world.arrive('a'), world.arrive('b')];
      world.hold(ada, PAGE);
      world.want(bo, PAGE);
      world.advance(5000);
      // The last count was sent a moment ago, so the next one waits.
      world.want(world.arrive('a'), PAGE);
      world.advance(300);
      const before = world.sent;
      world.drops = before + nth;
      happens(world, ada, bo);
      world.advance(EXACT_MS);
      inFlight = world.sent - before;
      for (const tab of world.tabs.values()) {
        if (what !== 'drops' || tab !== ada) assert.equal(last(tab), afterwards, `message ${nth}, ${tab.id}`);
        assert.equal(tab.visitors, world.tabs.size, `message ${nth}, ${tab.id}`);
      }
    }
    assert.ok(inFlight > 5);
  });
}
