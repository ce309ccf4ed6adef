/** A NATS server in lame duck mode: its pods move to another one at once, and calls are not affected. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setInterval as every } from 'node:timers/promises';
import { Client } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { writeKeys } from '../support/pod.ts';
import { Crowd } from './support/crowd.ts';
import { startNatsCluster, type NatsCluster } from './support/nats-cluster.ts';
import { startPodProcess, type PodProcess } from './support/pod-process.ts';
import type { ResumingClient } from './support/resuming-client.ts';

/** A server in lame duck mode closes no connection in its first ten seconds: a pod that has moved before then moved by itself. */
const MOVE_TIMEOUT_MS = 9000;
const SEND_EVERY_MS = 10;

const keys = writeKeys();
const pods: PodProcess[] = [];
let cluster: NatsCluster;
before(async () => {
  cluster = await startNatsCluster();
});
after(async () => {
  for (const pod of pods) await pod.kill();
  await cluster.close();
  keys.remove();
});

test('[BUS-7] a NATS server in lame duck mode: its pods move before they are cut off, rosters agree, every message arrives or is reported undelivered', async (t) => {
  const [first, second] = cluster.servers;
  assert.ok(first && second);
  for (const [name, { url }] of [
    ['one', first],
    ['two', second],
  ] as const)
    pods.push(await startPodProcess({ name, nats: url, keysFile: keys.file }));
  const [one, two] = pods;
  assert.ok(one && two);
  const crowd = await Crowd.gather({
    rooms: 10,
    perRoom: 4,
    podsOf: (_room, seat) => (seat % 2 === 0 ? [one.url, two.url] : [two.url, one.url]),
  });
  t.after(() => crowd.close());
  const [ada, bob] = crowd.people;
  assert.ok(ada && bob);
  assert.ok((await first.clients()) > 0);

  const traffic = talk(ada, bob);
  t.after(() => traffic.stop());
  const since = performance.now();
  first.lameDuck();
  // A participant joins on either side while the pod moves.
  const newcomers = await Promise.all([one, two].map(({ url }) => Client.enter(url, ada.room, 'Newcomer')));
  await eventually('the pod has moved', async () => (await first.clients()) === 0, MOVE_TIMEOUT_MS);
  const movedMs = performance.now() - since;
  await first.kill();
  await eventually(
    'all participants see the newcomers',
    () => newcomers.every(({ participant }) => [ada, bob].every(({ roster }) => roster.has(participant))),
    2500,
  );
  for (const newcomer of newcomers) newcomer.leave();
  await eventually('rosters agree', () => crowd.agrees(), 2500);
  const agreeMs = performance.now() - since;
  const sent = await traffic.stop();
  // A message that arrived may be reported undelivered too: its acknowledgement may be lost or late while the pod moves.
  const isKnown = (number: number): boolean =>
    bob.directed.includes(`message ${number}`) || ada.undelivered.includes(`m${number}`);
  const all = Array.from({ length: sent }, (_, number) => number);
  await eventually('every message arrived or was reported undelivered', () => all.every(isKnown), 3000);
  assert.equal(new Set(bob.directed).size, bob.directed.length, 'none arrived twice');
  assert.ok(
    crowd.people.every(({ welcomes }) => welcomes === 1),
    'sockets stayed open',
  );
  t.diagnostic(JSON.stringify({ movedMs, agreeMs, sent, undelivered: ada.undelivered.length }));
});

/** Sends from one to the other until stopped; resolves with how many were sent. */
function talk(from: ResumingClient, to: ResumingClient): { stop(): Promise<number> } {
  const end = new AbortController();
  const talking = (async () => {
    let sent = 0;
    try {
      for await (const _ of every(SEND_EVERY_MS, undefined, { signal: end.signal })) {
        from.send(to, `m${sent}`, `message ${sent}`);
        sent += 1;
      }
    } catch {
      // Stopped.
    }
    return sent;
  })();
  return {
    stop: () => {
      end.abort();
      return talking;
    },
  };
}
