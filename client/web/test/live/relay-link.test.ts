import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { LOST, REFUSALS, refusalOf } from '../../src/live/refusals.ts';
import { RelayLink, type Link } from '../../src/live/relay-link.ts';
import type { Connection } from '@parley/sdk/sfu/transports';
import type { RelayAnswer } from '../../src/live/relay-request.ts';

class Line implements Connection {
  isClosed = false;
  readonly #end = Promise.withResolvers<void>();
  readonly closed = this.#end.promise;

  close(): void {
    this.isClosed = true;
    this.#end.resolve();
  }

  goaway?: PromiseWithResolvers<void>;

  sayGoAway(): void {
    (this.goaway ??= Promise.withResolvers()).resolve();
  }

  break(): void {
    this.#end.reject(new Error('lost'));
  }
}

const RELAY = { url: 'https://r.example/', token: 't', certificateHashes: [] };
const WAY: RelayAnswer = { assignment: { broadcast: 'live/talk', relay: RELAY } };

interface Stand {
  readonly link: RelayLink<Line>;
  readonly states: Link[];
  readonly lines: Line[];
  /** The connections given to the player, in order: the number of a connection, or nothing. */
  readonly used: (number | null)[];
  /** The relays that an answer must not contain. */
  readonly asked: (string | undefined)[];
  answer: RelayAnswer;
  opens: boolean;
  serves: boolean | Promise<boolean>;
}

function stand(): Stand {
  const made: Omit<Stand, 'link'> = {
    states: [],
    lines: [],
    used: [],
    asked: [],
    answer: WAY,
    opens: true,
    serves: true,
  };
  const link = new RelayLink<Line>({
    lost: LOST.watch,
    spreadMs: 1000,
    serves: async () => made.serves,
    ask(without) {
      made.asked.push(without);
      return Promise.resolve(made.answer);
    },
    open() {
      if (!made.opens) return Promise.reject(new Error('silent'));
      const connection = new Line();
      made.lines.push(connection);
      return Promise.resolve({ transport: 'WebTransport', connection });
    },
    onLink: (state) => made.states.push(state),
    onConnection: (connection) => made.used.push(connection && made.lines.indexOf(connection.on)),
  });
  return Object.assign(made, { link });
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};
const last = ({ states }: Stand): Link | undefined => states.at(-1);

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  mock.method(Math, 'random', () => 1);
});
afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

test('[MEDIA-6] after a lost connection the page reconnects automatically and requests a relay again', async () => {
  const one = stand();
  one.link.connect();
  await settled();
  assert.equal(last(one)?.at, 'open');
  one.lines[0]?.break();
  await settled();
  const waiting = last(one);
  assert.ok(waiting?.at === 'waiting' && /reconnects automatically/.test(waiting.reason.body));
  one.answer = { assignment: { broadcast: 'live/talk', relay: { ...RELAY, url: 'https://other.example/' } } };
  mock.timers.tick(500);
  await settled();
  assert.equal(last(one)?.at, 'open');
  assert.deepEqual(one.used, [0, null, 1]);
});

test('a relay that does not answer is tried again, each time after a longer pause', async () => {
  const one = stand();
  one.opens = false;
  one.link.connect();
  for (const pause of [500, 1000, 2000]) {
    await settled();
    assert.equal(last(one)?.at, 'waiting');
    mock.timers.tick(pause - 1);
    await settled();
    assert.equal(last(one)?.at, 'waiting', `before ${pause} ms`);
    mock.timers.tick(1);
  }
  one.opens = true;
  await settled();
});

test('[MED-16] a full relay, which over WebSocket refuses after the connection has opened, is tried at growing intervals', async () => {
  const one = stand();
  one.link.connect();
  for (const pause of [500, 1000, 2000]) {
    await settled();
    one.lines.at(-1)?.break();
    await settled();
    mock.timers.tick(pause - 1);
    await settled();
    assert.equal(last(one)?.at, 'waiting', `before ${pause} ms`);
    mock.timers.tick(1);
  }
  await settled();
  assert.deepEqual(one.asked, [undefined, RELAY.url, RELAY.url, RELAY.url]);
});

test('a service that states a time is not asked before it', async () => {
  const one = stand();
  one.answer = { refused: refusalOf('RELAY_UNAVAILABLE'), afterMs: 3000 };
  one.link.connect();
  await settled();
  one.answer = WAY;
  mock.timers.tick(3499);
  await settled();
  assert.equal(last(one)?.at, 'waiting');
  mock.timers.tick(1);
  await settled();
  assert.equal(last(one)?.at, 'open');
});

test('[MEDIA-11] after GOAWAY the page opens the next connection elsewhere, and closes the old one when others have moved too', async () => {
  const one = stand();
  one.link.connect();
  await settled();
  one.lines[0]?.sayGoAway();
  await settled();
  mock.timers.tick(999);
  await settled();
  assert.deepEqual(one.asked, [undefined]);
  mock.timers.tick(1);
  await settled();
  assert.deepEqual(one.asked, [undefined, RELAY.url]);
  assert.deepEqual(one.used, [0, 1], 'the player is never without');
  assert.deepEqual(
    one.states.map(({ at }) => at),
    ['connecting', 'open', 'open'],
  );
  mock.timers.tick(4999);
  assert.ok(!one.lines[0]?.isClosed);
  mock.timers.tick(1);
  assert.ok(one.lines[0]?.isClosed && !one.lines[1]?.isClosed);
});

test('[MEDIA-11] the old connection is kept while no other one works', async () => {
  const one = stand();
  one.link.connect();
  await settled();
  one.lines[0]?.sayGoAway();
  await settled();
  one.opens = false;
  for (const wait of [1000, 500, 1000, 1000]) {
    mock.timers.tick(wait);
    await settled();
  }
  one.opens = true;
  one.serves = false;
  mock.timers.tick(1000);
  await settled();
  assert.deepEqual(
    one.lines.map(({ isClosed }) => isClosed),
    [false, true],
  );
  assert.deepEqual(one.used, [0]);
  one.serves = true;
  mock.timers.tick(1000);
  await settled();
  assert.deepEqual(one.used, [0, 2]);
});

test('a relay that ends before there is another is lost, and a connection that opens too late is closed', async () => {
  const one = stand();
  one.link.connect();
  await settled();
  one.lines[0]?.sayGoAway();
  await settled();
  one.serves = Promise.withResolvers<boolean>().promise;
  mock.timers.tick(1000);
  await settled();
  one.lines[0]?.break();
  await settled();
  assert.equal(last(one)?.at, 'waiting');
  mock.timers.tick(500);
  await settled();
  assert.deepEqual(one.used, [0, null, 2]);
});

test('[MEDIA-5] [MEDIA-11] a session is renewed before its token ends it, with the same relay', async () => {
  const one = stand();
  const token = `e30.${btoa(JSON.stringify({ iat: 1000, exp: 1100 }))}.AA`;
  one.answer = { assignment: { broadcast: 'live/talk', relay: { ...RELAY, token } } };
  one.link.connect();
  await settled();
  mock.timers.tick(89_999);
  await settled();
  assert.deepEqual(one.used, [0]);
  mock.timers.tick(1);
  await settled();
  assert.deepEqual(one.used, [0, 1]);
  assert.deepEqual(one.asked, [undefined, undefined]);
  mock.timers.tick(90_000);
  await settled();
  assert.deepEqual(one.used, [0, 1, 2], 'and again');
  one.link.close();
  assert.ok(one.lines.every(({ isClosed }) => isClosed));
});

test('[MEDIA-10] a relay that was lost or did not answer is not used again immediately', async () => {
  const one = stand();
  one.link.connect();
  await settled();
  one.lines[0]?.break();
  await settled();
  one.opens = false;
  mock.timers.tick(500);
  await settled();
  one.opens = true;
  mock.timers.tick(1000);
  await settled();
  one.link.leave();
  await settled();
  one.link.connect();
  await settled();
  assert.deepEqual(one.asked, [undefined, RELAY.url, RELAY.url, RELAY.url, undefined]);
});

test('[MEDIA-10] the connection to a silent relay is used until another one is open, and closed a moment later', async () => {
  const one = stand();
  one.link.connect();
  await settled();
  const { answer } = one;
  const slow = Promise.withResolvers<RelayAnswer>();
  one.link.leave(slow.promise);
  await settled();
  assert.equal(last(one)?.at, 'connecting');
  assert.deepEqual(one.used, [0]);
  slow.resolve(answer);
  await settled();
  assert.deepEqual(one.used, [0, 1]);
  assert.equal(last(one)?.at, 'open');
  mock.timers.tick(499);
  assert.ok(!one.lines[0]?.isClosed);
  mock.timers.tick(1);
  assert.ok(one.lines[0]?.isClosed && !one.lines[1]?.isClosed);
});

test('[MEDIA-10] the page stays with a relay that answers again before another connection is open', async () => {
  const one = stand();
  const token = `e30.${btoa(JSON.stringify({ iat: 1000, exp: 1100 }))}.AA`;
  one.answer = { assignment: { broadcast: 'live/talk', relay: { ...RELAY, token } } };
  one.link.connect();
  await settled();
  const slow = Promise.withResolvers<RelayAnswer>();
  one.link.leave(slow.promise);
  one.link.stay();
  assert.deepEqual(
    one.states.map(({ at }) => at),
    ['connecting', 'open', 'connecting', 'open'],
  );
  slow.resolve(one.answer);
  await settled();
  assert.deepEqual(one.used, [0]);
  mock.timers.tick(90_000);
  await settled();
  assert.deepEqual(one.used, [0, 1], 'it is renewed in time');
  assert.deepEqual(one.asked, [undefined, undefined], 'and from the same relay');
  one.link.stay();
  assert.equal(one.states.length, 5, 'who does not leave cannot stay');
});

test('[MEDIA-10] a silent relay whose connection ends is left without a pause, and given up where no other one opens', async () => {
  const one = stand();
  one.link.connect();
  await settled();
  const slow = Promise.withResolvers<RelayAnswer>();
  one.link.leave(slow.promise);
  one.lines[0]?.break();
  await settled();
  assert.deepEqual(one.used, [0, null]);
  one.link.stay();
  slow.resolve(one.answer);
  await settled();
  assert.deepEqual(one.used, [0, null, 1]);
  one.opens = false;
  one.link.leave();
  await settled();
  assert.equal(last(one)?.at, 'waiting');
  assert.ok(one.lines[1]?.isClosed);
  assert.deepEqual(one.used, [0, null, 1, null]);
});

test('[MEDIA-11] a page that stays after GOAWAY moves all the same', async () => {
  const one = stand();
  one.link.connect();
  await settled();
  one.link.leave(Promise.withResolvers<RelayAnswer>().promise);
  one.lines[0]?.sayGoAway();
  await settled();
  one.link.stay();
  mock.timers.tick(1000);
  await settled();
  assert.deepEqual(one.used, [0, 1]);
  assert.deepEqual(one.asked, [undefined, RELAY.url]);
});

test('a permanent refusal stops the attempts until the user retries', async () => {
  const one = stand();
  one.answer = { refused: refusalOf('LIVE_DISABLED'), afterMs: null };
  one.link.connect();
  await settled();
  mock.timers.tick(600_000);
  await settled();
  assert.deepEqual(
    one.states.map(({ at }) => at),
    ['connecting', 'stopped'],
  );
  one.answer = WAY;
  one.link.connect();
  await settled();
  assert.equal(last(one)?.at, 'open');
});

test('a connection that opens after the page was left is closed, and there are no further attempts', async () => {
  const one = stand();
  one.link.connect();
  one.link.close();
  await settled();
  one.link.connect();
  await settled();
  one.link.close();
  await settled();
  mock.timers.tick(600_000);
  assert.ok(one.lines.every(({ isClosed }) => isClosed));
  assert.equal(last(one)?.at, 'open');
});

test('every refusal has complete sentences, and an unknown one is tried again', () => {
  for (const [code, { title, body }] of Object.entries(REFUSALS)) {
    assert.match(title, /^[A-Z][^.]+$/, code);
    assert.match(body, /^[A-Z].+\.$/, code);
  }
  assert.equal(refusalOf('constructor').again, 'later');
  assert.equal(refusalOf('SOMETHING_NEW').again, 'later');
});
