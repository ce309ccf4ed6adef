/** A NATS server in lame duck mode: its pods move to another one at once, and calls are not affected. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setInterval as every } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { assertTakesAtMost } from '../../../../infra/e2e/support/stalls.ts';
import { Client } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { writeKeys } from '../support/pod.ts';
import { Crowd } from './support/crowd.ts';
import { startNatsCluster, type NatsCluster } from './support/nats-cluster.ts';
import { startPodProcess, type PodProcess } from './support/pod-process.ts';
import type { ResumingClient } from './support/resuming-client.ts';

/** SPEC rule BUS-7. The server itself closes no connection in its first ten seconds of lame duck mode. */
const MOVED_WITHIN_MS = 1000;
/** Only guards against a test that hangs. */
const HANG_MS = 9000;
/** P3: after the last event, all rosters agree within this time. */
const AGREE_WITHIN_MS = 2000;
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

test('[BUS-7] a NATS server in lame duck mode: its pods move within a second, rosters agree, every message arrives or is reported undelivered', async (t) => {
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
  // A participant joins each pod while one of them moves.
  const joining = Promise.all([one, two].map(({ url }) => Client.enter(url, ada.room, 'Newcomer')));
  const notified = await noticeOf(first.url);
  first.lameDuck();
  await notified();
  const since = performance.now();
  const movedMs = await assertTakesAtMost(MOVED_WITHIN_MS, 'the move to the other server', () =>
    eventually('the pod has moved', async () => (await first.clients()) === 0, HANG_MS),
  );
  const newcomers = await joining;
  await first.kill();
  await eventually(
    'all participants see the newcomers',
    () => newcomers.every(({ participant }) => [ada, bob].every(({ roster }) => roster.has(participant))),
    2500,
  );
  for (const newcomer of newcomers) newcomer.leave();
  await assertTakesAtMost(AGREE_WITHIN_MS, 'agreement', () =>
    eventually('rosters agree', () => crowd.agrees(), HANG_MS),
  );
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

/**
 * The returned function resolves when the server notifies its clients: a second after the signal if it led a Raft group of JetStream, whose leadership
 * it hands over first.
 */
async function noticeOf(url: string): Promise<() => Promise<void>> {
  const connection = await connect({ servers: url, reconnect: false });
  const notice = (async () => {
    for await (const { type } of connection.status()) if (type === 'ldm') break;
    await connection.close();
  })();
  return () => notice;
}

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
