/** What the page shows while streams begin, change and fail, with players that do nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Picture, PictureOptions } from '../../src/streams/player/picture.ts';
import { Screen } from '../../src/streams/screen.ts';
import { frame, join, tables } from './transport-stream.ts';

interface Made {
  readonly options: PictureOptions;
  fed: number;
  frames: number;
  closed: boolean;
}

class Bench {
  now = 0;
  hidden = false;
  readonly made: Made[] = [];
  readonly screen = new Screen(() => false, {
    plays: (type) => !type.includes('hvc1'),
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
    this.screen.push(join(...parts, frame([1]), frame([2])));
    await turn();
  }

  /** Advances the clock by a second. */
  async tick(): Promise<void> {
    this.now += 1000;
    this.screen.tick();
    await turn();
  }

  #make(options: PictureOptions): Picture {
    const made: Made = { options, fed: 0, frames: 0, closed: false };
    this.made.push(made);
    return {
      element: {} as HTMLElement,
      feed: (packets) => (made.fed += packets.length),
      seen: () => ({ width: 0, height: 0, frames: made.frames, dropped: 0, lag: 0 }),
      setSound: () => Promise.resolve(true),
      close: () => (made.closed = true),
    };
  }
}

const at = (bench: Bench): string => bench.screen.show.value.at;

test('data that arrived while the player loaded is not lost, and its tables come first', async () => {
  const bench = new Bench();
  await bench.send(tables('h264 aac'));
  assert.equal(at(bench), 'playing');
  assert.equal(bench.last.fed, (2 + 2) * 188);
});

test('a programme that cannot be played creates no player, and the next playable one does', async () => {
  const bench = new Bench();
  await bench.send(tables('hevc opus'));
  assert.equal(at(bench), 'unplayable');
  assert.equal(bench.made.length, 0);
  await bench.tick();
  await bench.send(tables('h264 aac'));
  assert.equal(at(bench), 'playing');
});

test('a stream that changes constantly gets at most one player a second', async () => {
  const bench = new Bench();
  for (let round = 0; round < 50; round++)
    await bench.send(tables(round % 2 === 0 ? 'h264 aac' : 'h264 mpeg'), frame([0xff, 0xfd], { pid: 0x101 }));
  assert.equal(bench.made.length, 1);
  await bench.tick();
  assert.equal(bench.made.length, 2);
  assert.equal(bench.made[0]?.closed, true);
});

test('a failing player is replaced; the third in a row without a picture ends playback, with advice', async () => {
  const bench = new Bench();
  await bench.send(tables('h264 aac'));
  for (const count of [1, 2, 3]) {
    assert.equal(bench.made.length, count);
    bench.last.options.onTrouble('x');
    await turn();
    await bench.tick();
  }
  const show = bench.screen.show.value;
  assert.ok(show.at === 'unplayable' && /cannot be decoded.*libx264/.test(show.why));
  assert.equal(bench.made.length, 3);
  assert.ok(bench.made.every(({ closed }) => closed));

  await bench.send(tables('h264 mpeg'), frame([0xff, 0xfd], { pid: 0x101 }));
  bench.last.options.onTrouble('x');
  await turn();
  await bench.tick();
  assert.equal(at(bench), 'playing', 'another programme has tries of its own');
});

test('a picture in between resets the count', async () => {
  const bench = new Bench();
  await bench.send(tables('h264 aac'));
  for (let round = 0; round < 5; round++) {
    bench.last.frames = 3;
    await bench.tick();
    bench.last.options.onTrouble('x');
    await turn();
    await bench.tick();
  }
  assert.equal(at(bench), 'playing');
});

test('a player that receives data and shows nothing is replaced, but not while the page is hidden or no data arrives', async () => {
  const bench = new Bench();
  await bench.send(tables('h264 aac'));
  for (let second = 0; second < 60; second++) await bench.tick();
  bench.hidden = true;
  for (let second = 0; second < 60; second++) {
    await bench.send();
    await bench.tick();
  }
  assert.equal(bench.made.length, 1);
  bench.hidden = false;
  for (let second = 0; second < 14; second++) {
    await bench.send();
    await bench.tick();
  }
  assert.equal(bench.made.length, 2);
});
