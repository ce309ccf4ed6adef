import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { rogue, speak } from './fakes/rogue.ts';
import { limits, Site } from './fakes/site.ts';
import { comes, has, make, noise, view } from './fakes/steps.ts';

const bytes = noise(300_000);

/** The visitor id of the tab named `seed`. */
const seedOf = (site: Site): string => {
  const found = [...site.visitors.values()].find(({ name }) => name === 'seed');
  assert.ok(found !== undefined);
  return found.id;
};

describe('the path of a page', () => {
  for (const [path, shown] of [
    ['host', 'direct'],
    ['relay', 'turn'],
  ] as const) {
    test(`[PAGE-15] ${shown}`, async () => {
      const site = new Site();
      site.path = () => path;
      const a = site.open('a');
      const { page } = await make(site, a, bytes);
      site.uplink('a').rate = 100;
      const b = site.open('b');
      b.read(page, null);
      const seen = await site.clock.until(
        () => view(b, page).peers.some((peer) => peer.path === shown),
        5000,
      );
      assert.notEqual(seen, null);
      assert.notEqual(await comes(site, b, page, 60_000), null);
      assert.equal(site.relayed, 0);
      assert.equal(view(b, page).path, shown);
    });

    test(`${shown} stays known for a visitor that sent the page and left`, async () => {
      const site = new Site();
      site.path = () => path;
      const a = site.open('a');
      const { page } = await make(site, a, noise(1000));
      const b = site.open('b');
      b.read(page, null);
      assert.notEqual(await comes(site, b, page, 20_000), null);
      a.close();
      await site.clock.advance(1000);
      assert.deepEqual(view(b, page).peers, []);
      assert.deepEqual([view(b, page).path, view(b, page).received], [shown, 1000]);
    });
  }

  test('[PAGE-15] a visitor requests TURN allocations only if no connection opens without them', async () => {
    const site = new Site();
    site.iceServers = [
      { urls: ['stun:192.0.2.1'] },
      { urls: ['turn:192.0.2.1', 'turns:192.0.2.1'], username: 'u', credential: 'c' },
    ];
    const hasTurn = ({ configuration }: (typeof site.connections)[number]): boolean =>
      JSON.stringify(configuration).includes('turn:');
    const a = site.open('a');
    const { page } = await make(site, a, bytes);
    const near = site.open('near');
    near.read(page, null);
    assert.notEqual(await comes(site, near, page, 5000), null);
    near.close();
    assert.deepEqual(site.connections.map(hasTurn), [false, false]);
    const asked = (): number => site.sent.filter(({ type }) => type === 'ice').length;
    assert.equal(asked(), 0, 'credentials are not asked for before');

    site.path = () => 'relay';
    const far = site.open('far');
    far.read(page, null);
    const took = await comes(site, far, page, 20_000);
    assert.ok(took !== null && took < 6000, `it took ${took} ms`);
    assert.equal(view(far, page).path, 'turn');
    assert.deepEqual(site.connections.slice(2).map(hasTurn), [false, false, true, true]);
    assert.equal(site.relayed, 0);
    assert.equal(asked(), 2, 'once each');
    const again = site.open('again');
    again.read(page, null);
    assert.notEqual(await comes(site, again, page, 20_000), null);
    assert.equal(asked(), 3, 'the holder has credentials that last');
  });

  test('[PAGE-15] without TURN servers there is no second attempt', async () => {
    const site = new Site();
    site.iceServers = [{ urls: ['stun:192.0.2.1'] }];
    site.path = () => null;
    const a = site.open('a');
    const { page } = await make(site, a, bytes);
    const b = site.open('b');
    b.read(page, null);
    assert.notEqual(await comes(site, b, page, 20_000), null);
    assert.equal(view(b, page).path, 'relay');
    assert.equal(site.connections.length, 2);
  });

  test('[PAGE-15] if TURN does not connect either, the stream relay is next', async () => {
    const site = new Site();
    site.iceServers = [
      { urls: ['stun:192.0.2.1'] },
      { urls: ['turn:192.0.2.1'], username: 'u', credential: 'c' },
    ];
    site.path = () => null;
    const a = site.open('a');
    const { page } = await make(site, a, bytes);
    const b = site.open('b');
    b.read(page, null);
    assert.notEqual(await comes(site, b, page, 20_000), null);
    assert.equal(view(b, page).path, 'relay');
    assert.equal(site.connections.length, 4);
  });

  test('[PAGE-15] a visitor that answers the first offer and supports no second is reached through the stream relay', async () => {
    const site = new Site();
    site.iceServers = [
      { urls: ['stun:192.0.2.1'] },
      { urls: ['turn:192.0.2.1'], username: 'u', credential: 'c' },
    ];
    site.path = () => null;
    const seed = site.open('seed');
    const { page } = await make(site, seed, bytes);
    seed.close();
    const links = new Set<string>();
    const old = await rogue(site, 'old', {
      onOffer: (_, { link }) => links.size < links.add(link).size,
    });
    old.send({ type: 'announce', page, whole: true, bytes: bytes.length });
    const reader = site.open('reader');
    reader.read(page, null);
    await site.clock.advance(20_000);
    const sent = old.received.map(({ type }) => type).filter((type) => type !== 'candidate');
    assert.deepEqual(sent, ['offer', 'offer', 'pipe']);
    assert.equal(links.size, 1);
  });

  for (const asks of [true, false]) {
    test(`[PAGE-15] if ICE fails, through a stream relay that requires ${asks ? 'tokens' : 'no tokens'}`, async () => {
      const site = new Site();
      site.path = () => null;
      site.asks = asks;
      const a = site.open('a');
      const { page } = await make(site, a, bytes);
      const b = site.open('b');
      b.read(page, null);
      assert.notEqual(await comes(site, b, page, 20_000), null);
      assert.ok(has(b, page, bytes));
      assert.equal(view(b, page).path, 'relay');
      assert.ok(site.relayed > bytes.length);
    });
  }

  test('[PAGE-16] a relay that loses messages only slows the transfer', async () => {
    const site = new Site();
    site.path = () => null;
    site.loses = 5;
    const a = site.open('a');
    const { page } = await make(site, a, bytes);
    const b = site.open('b');
    b.read(page, null);
    assert.notEqual(await comes(site, b, page, 120_000), null);
    assert.ok(has(b, page, bytes));
  });

  test('without a relay either, the state is finding, and the attempts continue', async () => {
    const site = new Site();
    site.path = () => null;
    const a = site.open('a', {}, { fetch: () => Promise.reject(new TypeError('no network')) });
    const { page } = await make(site, a, bytes);
    const b = site.open('b', {}, { fetch: () => Promise.reject(new TypeError('no network')) });
    b.read(page, null);
    await site.clock.advance(20_000);
    assert.equal(view(b, page).state, 'finding');
    site.path = () => 'host';
    assert.notEqual(await comes(site, b, page, 60_000), null);
  });
});

describe('connections between visitors', () => {
  test('[PAGE-14] two visitors that offer each other the same page keep one connection', async () => {
    const site = new Site();
    site.limits = { ...limits, maxHolders: 2 };
    const seed = site.open('seed');
    const { page } = await make(site, seed, bytes);
    site.uplink('seed').rate = 10;
    const [b, c] = [site.open('b'), site.open('c')];
    b.read(page, null);
    c.read(page, null);
    await site.clock.until(
      () => view(b, page).state === 'fetching' && view(c, page).state === 'fetching',
      5000,
    );
    let most = 0;
    const look = (): void => {
      most = Math.max(most, view(b, page).peers.length, view(c, page).peers.length);
    };
    b.subscribe(look);
    c.subscribe(look);
    assert.notEqual(await comes(site, b, page, 200_000), null);
    assert.notEqual(await comes(site, c, page, 200_000), null);
    // The seed and the other visitor.
    assert.equal(most, 2);
    assert.ok(has(c, page, bytes));
  });

  test('[PAGE-14] an offer that collides with ours: the offer of the lower id stays', async () => {
    const site = new Site();
    // The reader has the higher id: the offer of the other visitor stays.
    const offers: string[] = [];
    const one = await rogue(site, 'low', {
      onOffer: (from, message, self) => {
        offers.push(message.link);
        self.offer(from, page, 'the-lower-one');
        return false;
      },
    });
    const seed = site.open('seed');
    const { page } = await make(site, seed, bytes);
    site.uplink('seed').rate = 10;
    const reader = site.open('reader');
    reader.read(page, null);
    await site.clock.until(() => view(reader, page).chunks?.here === 1, 20_000);
    one.send({ type: 'announce', page, whole: false, bytes: bytes.length });
    await site.clock.until(() => one.received.some(({ type }) => type === 'answer'), 20_000);
    assert.equal(one.received.find(({ type }) => type === 'answer')?.link, 'the-lower-one');
    assert.equal(offers.length, 1);
    assert.equal(view(reader, page).peers.filter(({ visitor }) => visitor === one.id).length, 1);
  });

  test('[PAGE-14] a holder serves a limited number at a time and answers `busy` to others, which find another holder', async () => {
    const site = new Site();
    site.limits = { ...limits, maxReaders: 1 };
    const seed = site.open('seed');
    const { page } = await make(site, seed, bytes);
    site.uplink('seed').rate = 20;
    const readers = ['b', 'c', 'd'].map((name) => site.open(name));
    let most = 0;
    seed.subscribe(() => {
      most = Math.max(most, view(seed, page).peers.length);
    });
    for (const reader of readers) reader.read(page, null);
    for (const reader of readers) assert.notEqual(await comes(site, reader, page, 120_000), null);
    assert.equal(most, 1);
  });

  test('[PAGE-14] a visitor that seldom requests a chunk keeps its place until another visitor asks for it', async () => {
    const site = new Site();
    site.limits = { ...limits, maxReaders: 1 };
    const seed = site.open('seed');
    const { page } = await make(site, seed, bytes);
    let taken = 0;
    let ended = false;
    const idler = await rogue(site, 'idler', {
      onOpen: (channel) => {
        speak(channel, { type: 'handshake', page });
        const again = (): void => {
          if (ended) return;
          speak(channel, { type: 'request', chunk: taken % 10 });
          taken += 1;
          site.clock.after(15_000, again);
        };
        again();
      },
      onMessage: ({ type }) => {
        ended ||= type === 'bye';
      },
    });
    idler.offer(seedOf(site), page, 'the-idle-one');
    await site.clock.advance(60_000);
    assert.deepEqual([taken, ended], [4, false]);
    const reader = site.open('reader');
    reader.read(page, null);
    assert.notEqual(await comes(site, reader, page, 30_000), null);
    assert.equal(ended, true);
  });

  test('[PAGE-5] lost sockets stop no transfer, and all state is sent again', async () => {
    const site = new Site();
    const seed = site.open('seed');
    const { page } = await make(site, seed, bytes);
    site.uplink('seed').rate = 20;
    const reader = site.open('reader');
    reader.read(page, null);
    await site.clock.until(() => view(reader, page).state === 'fetching', 5000);
    site.down = true;
    site.dropSockets();
    await site.clock.until(() => seed.snapshot.connection === 'waiting', 5000);
    assert.equal(view(seed, page).holders, null);
    assert.notEqual(await comes(site, reader, page, 60_000), null);
    site.down = false;
    await site.clock.until(() => site.present(page).holders === 2, 30_000);
    assert.deepEqual(site.present(page), { holders: 2, readers: 0 });
    await site.clock.until(() => view(seed, page).holders === 2, 2000);
    assert.equal(view(seed, page).last, false);
    reader.close();
    assert.notEqual(await site.clock.until(() => view(seed, page).last, 2000), null);
  });

  test('a holder that is killed while it sends: the rest comes from another', async () => {
    const site = new Site();
    const first = site.open('first');
    const { page } = await make(site, first, bytes);
    site.uplink('first').rate = 20;
    const reader = site.open('reader');
    reader.read(page, null);
    await site.clock.until(() => (view(reader, page).chunks?.here ?? 0) > 3, 20_000);
    site.kill('first');
    await site.clock.advance(1000);
    const second = site.open('second');
    await make(site, second, bytes);
    assert.notEqual(await comes(site, reader, page, 30_000), null);
    assert.ok(has(reader, page, bytes));
  });

  test('[PAGE-6] a reader with one slow holder finds holders that came later', async () => {
    const site = new Site();
    const large = noise(1 << 22);
    const slow = site.open('slow');
    const { page } = await make(site, slow, large);
    site.uplink('slow').rate = 60;
    const reader = site.open('reader');
    reader.read(page, null);
    await site.clock.until(() => (view(reader, page).chunks?.here ?? 0) > 0, 20_000);
    const fast = site.open('fast');
    await make(site, fast, large);
    // From the slow holder alone it would take 70 s.
    assert.notEqual(await comes(site, reader, page, 20_000), null);
    assert.ok(view(fast, page).sent > 0);
    assert.equal(view(reader, page).dropped, 0);
  });

  test('an unknown address is `not-found`', async () => {
    const site = new Site();
    const seed = site.open('seed');
    await make(site, seed, bytes);
    const one = await rogue(site, 'rogue');
    const [first] = site.visitors.keys();
    one.offer(first ?? '', 'f'.repeat(64), 'some-link');
    await site.clock.until(() => one.received.length > 0, 1000);
    assert.deepEqual(one.received, [{ type: 'reject', link: 'some-link', reason: 'not-found' }]);
  });
});

describe('a swarm, not a star', () => {
  test('[PAGE-17] 20 readers that arrive together: the first holder sends few copies', async () => {
    const site = new Site();
    site.rate = 125;
    const seed = site.open('seed');
    const large = noise(1 << 20);
    const { page } = await make(site, seed, large);
    const readers = Array.from({ length: 20 }, (_, index) => site.open(`reader ${index}`));
    for (const reader of readers) reader.read(page, null);
    const took = await site.clock.until(
      () => readers.every((reader) => view(reader, page).state === 'here'),
      300_000,
    );
    assert.ok(took !== null);
    const copies = view(seed, page).sent / large.length;
    assert.ok(copies < 4, `the first holder gave ${copies} copies`);
    for (const reader of readers) assert.ok(has(reader, page, large));
  });
});
