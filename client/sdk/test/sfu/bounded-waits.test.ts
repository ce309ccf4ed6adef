/** What waits for the end of a track is not kept for each of its frames. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Broadcast } from '@moq/net';
import { boundWaits } from '../../src/sfu/bounded-waits.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const FRAMES = 50_000;
/** Of each frame. The library alone keeps over 200. */
const MAX_BYTES = 10;

describe('[MEDIA-14] waits for the end of a track', () => {
  test('those of frames that arrived are forgotten, and the first and the newest are told of the end', async () => {
    const broadcast = new Broadcast.Producer();
    const { closed } = broadcast;
    boundWaits(closed);
    boundWaits(closed);
    const first = closed.then((end) => ({ first: end }));
    const frame = async (): Promise<void> => {
      assert.equal(await Promise.race([Promise.resolve(false), closed]), false);
    };
    for (let nth = 0; nth < 1000; nth += 1) await frame();
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let nth = 0; nth < FRAMES; nth += 1) await frame();
    collectGarbage();
    const each = (process.memoryUsage().heapUsed - before) / FRAMES;
    assert.ok(each < MAX_BYTES, `${each} bytes are kept of each frame`);
    const newest = Promise.race([new Promise(() => undefined), closed]);
    broadcast.close();
    assert.deepEqual([await first, await newest, await closed], [{ first: null }, null, null]);
  });

  test('a class that is none of the library stays as it is', () => {
    const other = { peek: () => undefined, changed: () => undefined };
    boundWaits(other as never);
    assert.equal(Object.hasOwn(Object.prototype, 'then'), false);
  });
});
