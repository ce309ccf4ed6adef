/** A pod with a small heap against sockets that send endless messages: it keeps running, admits a newcomer, and its memory does not grow. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from '../support/client.ts';
import { startNats, type TestNats } from '../support/nats.ts';
import { randomRoom, writeKeys } from '../support/pod.ts';
import { CONTINUATION, RawClient, TEXT, frame } from '../support/raw.ts';
import { startPodProcess, type PodProcess } from './support/pod-process.ts';

/** A pod without load takes 30 MB of this. */
const HEAP_MB = 64;
const SOCKETS = 100;
const FRAGMENTS = 16_000;
/** One after the other at each of a few sockets: 130 MB, were what they sent kept after they are gone. */
const ENDED = 2000;
const AT_ONCE = 32;

const keys = writeKeys();
let nats: TestNats;
let pod: PodProcess;
before(async () => {
  nats = await startNats();
  const node = [`--max-old-space-size=${HEAP_MB}`];
  pod = await startPodProcess({ name: 'small', nats: nats.url, keysFile: keys.file, node });
});
after(async () => {
  await pod.kill();
  await nats.close();
  keys.remove();
});

test('[LIM-8] [LIM-10] a hundred sockets with 16,000 fragments each do not end a pod with a small heap', async () => {
  const more = frame({ opcode: CONTINUATION, payload: 'x', fin: false });
  const bytes = Buffer.concat([
    frame({ opcode: TEXT, payload: 'x', fin: false }),
    ...Array<Buffer>(FRAGMENTS).fill(more),
  ]);
  const sockets = await Promise.all(Array.from({ length: SOCKETS }, () => RawClient.openPages(pod.url)));
  for (const socket of sockets) socket.write(bytes);
  await Promise.all(sockets.map((socket) => socket.ended(20_000)));
  for (const socket of sockets) socket.destroy();
  const ada = await Client.enter(pod.url, randomRoom());
  assert.equal(ada.welcome.roster.length, 1);
  ada.drop();
});

test('[LIM-10] what sockets send after they were ended is freed when they are closed', async () => {
  const room = randomRoom();
  // The first message ends a socket that has not entered; the second begins in the same chunk.
  const half = frame({ opcode: TEXT, payload: 'x'.repeat(65_000) }).subarray(0, 64_000);
  const bad = Buffer.concat([frame({ opcode: TEXT, payload: 'nonsense' }), half.subarray(0, 1000)]);
  const endMany = async (sockets: number): Promise<void> => {
    for (let count = 0; count < sockets; count += 1) {
      const raw = await RawClient.open(pod.url, room);
      raw.write(bad);
      await raw.closeCode();
      raw.stream.write(half.subarray(1000), () => raw.destroy());
    }
  };
  const endAll = async (sockets: number): Promise<void> => {
    await Promise.all(Array.from({ length: AT_ONCE }, () => endMany(sockets / AT_ONCE)));
  };
  await endAll(ENDED / 4);
  const before = pod.residentBytes();
  await endAll(ENDED);
  const grown = (pod.residentBytes() - before) / 1_000_000;
  assert.ok(grown < 50, `it took ${grown} MB more`);
});
