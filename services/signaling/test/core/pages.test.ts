import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PageWorld, type Tab } from '../support/page-world.ts';
import { EXACT_MS, lastCount, PAGE } from '../support/page-steps.ts';

describe('holders are found and counted', () => {
  test('[PAGE-6] on the same pod at once, on another pod as soon as it has answered', () => {
    const world = new PageWorld();
    const ada = world.arrive('a');
    world.announce(ada, PAGE);
    const near = world.arrive('a');
    world.subscribe(near, PAGE);
    assert.deepEqual(near.given(PAGE), [{ visitor: ada.id, whole: true }]);
    const far = world.arrive('b');
    world.subscribe(far, PAGE);
    assert.deepEqual(far.given(PAGE), []);
    world.advance(400);
    assert.deepEqual(
      far.given(PAGE).map(({ visitor }) => visitor),
      [ada.id],
    );
    world.advance(EXACT_MS);
    assert.deepEqual(
      [ada, near, far].map((tab) => lastCount(tab)),
      ['1+2', '1+2', '1+2'],
    );
  });

  test('[PAGE-6] a reader gets no candidate twice, and readers are candidates as well', () => {
    const world = new PageWorld();
    const [ada, bo, cy] = [world.arrive('a'), world.arrive('a'), world.arrive('b')];
    world.announce(ada, PAGE);
    world.announce(bo, PAGE, { whole: false });
    world.subscribe(cy, PAGE, [ada.id]);
    world.advance(EXACT_MS);
    assert.deepEqual(cy.given(PAGE), [{ visitor: bo.id, whole: false }]);
  });

  for (const pod of ['a', 'b']) {
    test(`[PAGE-6] of many holders a few are selected at random, but one of every network before a second of any: on ${pod === 'a' ? 'their' : 'another'} pod`, () => {
      const world = new PageWorld({ limits: { 'page.maxHolders': 4 } });
      for (let nth = 0; nth < 500; nth += 1) world.announce(world.arrive('a', 'one network'), PAGE);
      const others = ['b', 'c', 'd'].map((network) => world.arrive('a', network));
      for (const other of others) world.announce(other, PAGE);
      const seen = new Set<string>();
      for (let nth = 0; nth < 40; nth += 1) {
        const tab = world.arrive(pod);
        world.subscribe(tab, PAGE);
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
    for (let nth = 0; nth < 300; nth += 1) world.announce(world.arrive('a'), PAGE, { whole: false });
    const ada = world.arrive('a');
    world.announce(ada, PAGE);
    for (let nth = 0; nth < 20; nth += 1) {
      const tab = world.arrive('a');
      world.subscribe(tab, PAGE);
      assert.deepEqual(tab.given(PAGE)[0], { visitor: ada.id, whole: true });
    }
  });

  test('[PAGE-6] holders of the region of the reader come first, two of each network, and those of others where there are too few', () => {
    const world = new PageWorld({ pods: ['eu_a', 'eu_b', 'us_a'], limits: { 'page.maxHolders': 4 } });
    const far = ['x', 'y', 'z'].map((network) => world.arrive('us_a', network));
    const near = ['one', 'one', 'one'].map((network) => world.arrive('eu_b', network));
    const nearby = new Set(near.map(({ id }) => id));
    for (const tab of [...far, ...near]) world.announce(tab, PAGE);
    world.advance(EXACT_MS);
    for (let nth = 0; nth < 20; nth += 1) {
      const reader = world.arrive('eu_a');
      world.subscribe(reader, PAGE);
      world.advance(EXACT_MS);
      const given = reader.given(PAGE).map(({ visitor }) => visitor);
      assert.equal(given.length, 4);
      assert.ok(given.slice(0, 2).every((id) => nearby.has(id)));
      assert.ok(given.some((id) => far.some((tab) => tab.id === id)));
      world.drop(reader, PAGE);
    }
  });

  test('[PAGE-6] neither many networks of the region nor one network on many of its pods hide a holder of another region', () => {
    const world = new PageWorld({ pods: ['eu_a', 'eu_b', 'eu_c', 'us_a'], limits: { 'page.maxHolders': 4 } });
    const far = world.arrive('us_a', 'x');
    const near = ['one', 'two', 'three', 'four', 'five'].flatMap((network) =>
      ['eu_a', 'eu_b', 'eu_c'].map((pod) => world.arrive(pod, network)),
    );
    for (const tab of [far, ...near]) world.announce(tab, PAGE);
    world.advance(EXACT_MS);
    const reader = world.arrive('eu_a');
    world.subscribe(reader, PAGE);
    const given = reader.given(PAGE).map(({ visitor }) => visitor);
    assert.equal(given.length, 4);
    assert.equal(given.at(-1), far.id);
  });

  test('[PAGE-6] a reader that wants more candidates than there are gets later ones', () => {
    const world = new PageWorld();
    const ada = world.arrive('b');
    world.subscribe(ada, PAGE);
    world.advance(5000);
    assert.deepEqual(ada.given(PAGE), []);
    const bo = world.arrive('a');
    world.announce(bo, PAGE);
    world.advance(EXACT_MS);
    assert.deepEqual(
      ada.given(PAGE).map(({ visitor }) => visitor),
      [bo.id],
    );
  });

  test('[PAGE-8] a page without holders is gone, and back with the next holder', () => {
    const world = new PageWorld();
    const [ada, bo] = [world.arrive('a'), world.arrive('b')];
    world.announce(ada, PAGE);
    world.subscribe(bo, PAGE);
    world.advance(EXACT_MS);
    world.leave(ada);
    world.advance(EXACT_MS);
    assert.equal(lastCount(bo), '0+1');
    const cy = world.arrive('a');
    world.announce(cy, PAGE);
    world.advance(EXACT_MS);
    assert.equal(lastCount(bo), '1+1');
  });

  test('[PAGE-8] a thousand arrivals cause few messages to each visitor, and the last count is exact', () => {
    const world = new PageWorld();
    const tabs: Tab[] = [];
    for (let nth = 0; nth < 880; nth += 1) {
      const tab = world.arrive(nth % 2 === 0 ? 'a' : 'b');
      world.announce(tab, PAGE);
      tabs.push(tab);
      world.advance(10);
    }
    world.advance(EXACT_MS);
    assert.ok(tabs.every((tab) => lastCount(tab) === '880+0' && tab.visitors === 880));
    const messages = tabs.reduce((sum, tab) => sum + tab.messages.length, 0) / tabs.length;
    assert.ok(messages < 25, `${messages} messages to each`);
    for (const tab of tabs.splice(0, 440)) world.leave(tab);
    world.advance(EXACT_MS);
    assert.ok(tabs.every((tab) => lastCount(tab) === '440+0' && tab.visitors === 440));
  });

  test('[PAGE-8] a visitor that came while another left gets the count too, where the others need not', () => {
    const world = new PageWorld();
    const [ada, bo] = [world.arrive('a'), world.arrive('a')];
    world.announce(ada, PAGE);
    world.subscribe(bo, PAGE);
    world.advance(5000);
    const before = ada.messages.length;
    const cy = world.arrive('a');
    world.subscribe(cy, PAGE);
    world.leave(bo);
    world.advance(EXACT_MS);
    assert.equal(lastCount(cy), '1+1');
    assert.equal(cy.visitors, 2);
    assert.ok(ada.messages.length <= before + 2, 'no visitor gets a count twice');
  });

  test('[PAGE-11] a pod unsubscribes from a page without visitors here, which then costs nothing', () => {
    const world = new PageWorld();
    const ada = world.arrive('a');
    world.announce(ada, PAGE);
    world.advance(EXACT_MS);
    assert.equal(world.pods.get('a')?.listening.has(PAGE), true);
    world.drop(ada, PAGE);
    world.advance(3000);
    assert.deepEqual([...(world.pods.get('a')?.listening ?? [])], []);
    assert.deepEqual(world.pods.get('a')?.core.counts(), { visitors: 1, pages: 0, held: 0 });
  });
});

const CHANGES = [
  {
    what: 'comes',
    afterwards: '1+3',
    happens: (world: PageWorld) => world.subscribe(world.arrive('c'), PAGE),
  },
  {
    what: 'holds',
    afterwards: '2+1',
    happens: (world: PageWorld, _: Tab, bo: Tab) => world.announce(bo, PAGE),
  },
  { what: 'drops', afterwards: '0+2', happens: (world: PageWorld, ada: Tab) => world.drop(ada, PAGE) },
  { what: 'goes', afterwards: '0+2', happens: (world: PageWorld, ada: Tab) => world.leave(ada) },
] as const;

for (const { what, afterwards, happens } of CHANGES) {
  test(`[BUS-4] [PAGE-8] whichever message is lost, 2 s later every count is exact: a visitor ${what}`, () => {
    let inFlight = Infinity;
    for (let nth = 1; nth <= inFlight; nth += 1) {
      const world = new PageWorld({ pods: ['a', 'b', 'c'] });
      const [ada, bo] = [world.arrive('a'), world.arrive('b')];
      world.announce(ada, PAGE);
      world.subscribe(bo, PAGE);
      world.advance(5000);
      // The last count was sent a moment ago, so the next one waits.
      world.subscribe(world.arrive('a'), PAGE);
      world.advance(300);
      const before = world.sent;
      world.drops = before + nth;
      happens(world, ada, bo);
      world.advance(EXACT_MS);
      inFlight = world.sent - before;
      for (const tab of world.tabs.values()) {
        if (what !== 'drops' || tab !== ada)
          assert.equal(lastCount(tab), afterwards, `message ${nth}, ${tab.id}`);
        assert.equal(tab.visitors, world.tabs.size, `message ${nth}, ${tab.id}`);
      }
    }
    assert.ok(inFlight > 5);
  });
}
