import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import { Broadcast, type Track } from '@moq/net';
import { decodeFrame } from '../../src/sfu/frames.ts';
import type { FrameSealer } from '../../src/sfu/e2ee/frame-cipher.ts';
import { TrackWriter } from '../../src/sfu/track-writer.ts';

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
};

function served(writer: TrackWriter): { broadcast: Broadcast.Producer; reader: Track.Subscriber } {
  const broadcast = new Broadcast.Producer();
  writer.serve(broadcast);
  return { broadcast, reader: broadcast.consume().track(writer.name).subscribe() };
}

const frame = (timestamp: number) => ({ timestamp, payload: new Uint8Array(4) });

test('[MEDIA-11] a track ends with its broadcast, and the track on the next connection continues', async () => {
  const writer = new TrackWriter('camera/low');
  const [old, next] = [served(writer), served(writer)];
  writer.begin();
  writer.write(frame(1));
  const [of, group] = [await old.reader.recvGroup(), await next.reader.recvGroup()];
  old.broadcast.close();
  await settle();
  assert.equal(old.reader.closed.peek(), null);
  assert.equal(of?.closed.peek(), null, 'with the group that was open');
  assert.equal(writer.wanted, true);
  writer.write(frame(2));
  assert.deepEqual((await group?.readFrameSequence())?.sequence, 0);
  next.broadcast.close();
  await settle();
  assert.equal(writer.wanted, false);
});

test('[MEDIA-16] a frame that cannot be encrypted ends its group, and the next group is encrypted normally', async () => {
  let fails = false;
  const sealer: FrameSealer = {
    encrypt: (_group, _index, bytes) => (fails ? Promise.reject(new Error('no')) : Promise.resolve(bytes)),
  };
  const writer = new TrackWriter('camera/low', sealer);
  const { reader, broadcast } = served(writer);
  const times = async (): Promise<(number | undefined)[]> => {
    const group = await reader.recvGroup();
    const read: (number | undefined)[] = [];
    for (let one = await group?.readFrame(); one !== undefined; one = await group?.readFrame())
      read.push(decodeFrame(one.payload)?.timestamp);
    return read;
  };
  for (let group = 0; group < 2; group += 1) {
    writer.begin();
    writer.write(frame(1));
    await settle();
    fails = group === 0;
    writer.write(frame(2));
    await settle();
    fails = false;
    writer.write(frame(3));
    await settle();
  }
  writer.end();
  await settle();
  assert.deepEqual(await times(), [1]);
  assert.deepEqual(await times(), [1, 2, 3]);
  broadcast.close();
});
