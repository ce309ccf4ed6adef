/** What the page shows while streams begin, change and fail, with players that do nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Player, PlayerOptions } from '../../src/streams/player/player.ts';
import { Playback } from '../../src/streams/playback.ts';
import { frame, join, tables } from './transport-stream.ts';

interface Made {
  readonly options: PlayerOptions;
  fed: number;
  frames: number;
  closed: boolean;
}

class TestPlayback {
  now = 0;
  hidden = false;
  readonly made: Made[] = [];
  readonly playback = new Playback(() => false, {
    canPlay: (type) => !type.includes('hvc1'),
    load: () => Promise.resolve((options) => this.#make(options)),
    now: () => this.now,
    hidden: () => this.hidden,
  });

  get last(): Made {
    const made = this.made.at(-1);
    assert.ok(made);
    return made;
  }

  async send(...parts: readonly Uint8Array[]): Promise<void> {
    this.playback.push(join(...parts, frame([1]), frame([2])));
    await turn();
  }

  /** Advances the clock by a second. */
  async tick(): Promise<void> {
    this.now += 1000;
    this.playback.tick();
    await turn();
  }

  #make(options: PlayerOptions): Player {
    const made: Made = { options, fed: 0, frames: 0, closed: false };
    this.made.push(made);
    return {
      element: {} as HTMLElement,
      feed: (packets) => (made.fed += packets.length),
      stats: () => ({ width: 0, height: 0, frames: made.frames, dropped: 0, lag: 0 }),
      setSound: () => Promise.resolve(true),
      close: () => (made.closed = true),
    };
  }
}

const at = (setup: TestPlayback): string => setup.playback.state.value.at;

test('data that arrived while the player loaded is not lost, and its tables come first', async () => {
  const setup = new TestPlayback();
  await setup.send(tables('h264 aac'));
  assert.equal(at(setup), 'playing');
  assert.equal(setup.last.fed, (2 + 2) * 188);
});

test('a program that cannot be played creates no player, and the next playable one does', async () => {
  const setup = new TestPlayback();
  await setup.send(tables('hevc opus'));
  assert.equal(at(setup), 'unplayable');
  assert.equal(setup.made.length, 0);
  await setup.tick();
  await setup.send(tables('h264 aac'));
  assert.equal(at(setup), 'playing');
});

test('a stream that changes constantly gets at most one player a second', async () => {
  const setup = new TestPlayback();
  for (let round = 0; round < 50; round++)
    await setup.send(tables(round % 2 === 0 ? 'h264 aac' : 'h264 mpeg'), frame([0xff, 0xfd], { pid: 0x101 }));
  assert.equal(setup.made.length, 1);
  await setup.tick();
  assert.equal(setup.made.length, 2);
  assert.equal(setup.made[0]?.closed, true);
});

test('a failing player is replaced; the third in a row without a picture ends playback, with advice', async () => {
  const setup = new TestPlayback();
  await setup.send(tables('h264 aac'));
  for (const count of [1, 2, 3]) {
    assert.equal(setup.made.length, count);
    setup.last.options.onError('x');
    await turn();
    await setup.tick();
  }
  const show = setup.playback.state.value;
  assert.ok(show.at === 'unplayable' && /cannot be decoded.*libx264/.test(show.reason));
  assert.equal(setup.made.length, 3);
  assert.ok(setup.made.every(({ closed }) => closed));

  await setup.send(tables('h264 mpeg'), frame([0xff, 0xfd], { pid: 0x101 }));
  setup.last.options.onError('x');
  await turn();
  await setup.tick();
  assert.equal(at(setup), 'playing', 'another program has tries of its own');
});

test('a picture in between resets the count', async () => {
  const setup = new TestPlayback();
  await setup.send(tables('h264 aac'));
  for (let round = 0; round < 5; round++) {
    setup.last.frames = 3;
    await setup.tick();
    setup.last.options.onError('x');
    await turn();
    await setup.tick();
  }
  assert.equal(at(setup), 'playing');
});

test('a player that receives data and shows nothing is replaced, but not while the page is hidden or no data arrives', async () => {
  const setup = new TestPlayback();
  await setup.send(tables('h264 aac'));
  for (let second = 0; second < 60; second++) await setup.tick();
  setup.hidden = true;
  for (let second = 0; second < 60; second++) {
    await setup.send();
    await setup.tick();
  }
  assert.equal(setup.made.length, 1);
  setup.hidden = false;
  for (let second = 0; second < 14; second++) {
    await setup.send();
    await setup.tick();
  }
  assert.equal(setup.made.length, 2);
});
