import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { LOST, REFUSALS, refusalOf } from '../../src/live/refusals.ts';
import { RelayLink, type Link } from '../../src/live/relay-link.ts';
import type { Connection } from '../../src/live/transports.ts';
import type { WayAnswer } from '../../src/live/way-in.ts';

class Line implements Connection {
  isClosed = false;
  readonly #end = Promise.withResolvers<void>();
  readonly closed = this.#end.promise;

  close(): void {
    this.isClosed = true;
    this.#end.resolve();
  }

  break(): void {
    this.#end.reject(new Error('lost'));
  }
}

const RELAY = { url: 'https://r.example/', token: 't', certificateHashes: [] };
const WAY: WayAnswer = { way: { broadcast: 'live/talk', relay: RELAY } };

interface Stand {
  readonly link: RelayLink<Line>;
  readonly states: Link[];
  readonly lines: Line[];
  /** What the player was given, in order: the number of a line, or nothing. */
  readonly used: (number | null)[];
  answer: WayAnswer;
  opens: boolean;
}

function stand(): Stand {
  const made: Omit<Stand, 'link'> = { states: [], lines: [], used: [], answer: WAY, opens: true };
  const link = new RelayLink<Line>({
    lost: LOST.watch,
    ask: () => Promise.resolve(made.answer),
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

test('[MEDIA-6] a connection that is lost comes back by itself, and the way is asked for anew', async () => {
  const one = stand();
  one.link.connect();
  await settled();
  assert.equal(last(one)?.at, 'open');
  one.lines[0]?.break();
  await settled();
  const waiting = last(one);
  assert.ok(waiting?.at === 'waiting' && /looking for the picture again/.test(waiting.why.body));
  one.answer = { way: { broadcast: 'live/talk', relay: { ...RELAY, url: 'https://other.example/' } } };
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

test('a service that names a time is not asked before it', async () => {
  const one = stand();
  one.answer = { refused: refusalOf('NO_RELAY'), afterMs: 3000 };
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

test('a refusal that trying again does not change stops until a person tries', async () => {
  const one = stand();
  one.answer = { refused: refusalOf('LIVE_OFF'), afterMs: null };
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

test('what opens after the page was left is closed, and nothing is tried again', async () => {
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

test('every refusal says what happened in whole sentences, and one that is not known is tried again', () => {
  for (const [code, { title, body }] of Object.entries(REFUSALS)) {
    assert.match(title, /^[A-Z][^.]+$/, code);
    assert.match(body, /^[A-Z].+\.$/, code);
  }
  assert.equal(refusalOf('constructor').again, 'later');
  assert.equal(refusalOf('SOMETHING_NEW').again, 'later');
});
