/** NATS is down for 5 and for 30 s: calls continue, participants enter rooms that are open, and afterwards all rosters agree. */
import assert from 'node:assert/strict';
import { after, describe, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import type { ErrorAnswer } from '@parley/protocol/http';
import type { MediaRelay } from '@parley/protocol/media';
import { mediaRelaySubject } from '@parley/protocol/subjects';
import { Client, join } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { startNats } from '../support/nats.ts';
import { isReady, randomRoom, writeKeys } from '../support/pod.ts';
import { Crowd } from './support/crowd.ts';
import { startPodProcess, type PodProcess } from './support/pod-process.ts';

const ROOMS = 10;
const PER_ROOM = 4;
/** P3 gives 2 s from the moment all links are up; a pod finds the server again within half a second of its return. */
const AGREEMENT_TIMEOUT_MS = 2500;
/** Of a pod without a bus, from which on it opens rooms that are not there. */
const ALONE_AFTER_MS = 5000;

const keys = writeKeys();
const opened: { close(): Promise<void> }[] = [];
after(async () => {
  for (const one of opened.toReversed()) await one.close();
  keys.remove();
});

async function place(name: string, nats: string): Promise<PodProcess> {
  const pod = await startPodProcess({ name, nats, keysFile: keys.file });
  opened.push({ close: () => pod.kill() });
  return pod;
}

describe('NATS killed and started again', { concurrency: 2 }, () => {
  for (const outageMs of [5000, 30_000])
    test(`[BUS-6] [JOIN-14] [MEDIA-2] after ${outageMs / 1000} s: sockets stay open, messages and joins work where the room is, relays are still offered, then rosters agree and the others saw neither left nor joined`, (t) =>
      outage(t, outageMs));
});

async function outage(t: TestContext, outageMs: number): Promise<void> {
  const nats = await startNats();
  opened.push(nats);
  const [one, two] = await Promise.all([place('one', nats.url), place('two', nats.url)]);
  // Seats 0 and 1 are on one pod, 2 and 3 on the other.
  const crowd = await Crowd.gather({
    rooms: ROOMS,
    perRoom: PER_ROOM,
    podsOf: (_room, seat) => (seat < 2 ? [one.url, two.url] : [two.url, one.url]),
  });
  t.after(() => crowd.close());
  const [ada, bob, cas] = crowd.people;
  assert.ok(ada && bob && cas);

  await knowsRelay(one, nats.url);
  await nats.kill();
  const downAt = performance.now();
  await eventually('readiness fails', async () => !(await isReady(one.url)) && !(await isReady(two.url)));
  assert.equal(await codeOf(one, randomRoom()), 'NOT_READY', 'another pod may have a bus and the room');

  ada.send(bob, 'near', 'an offer');
  await eventually('it came', () => bob.directed.includes('an offer'));
  ada.send(cas, 'far', 'an offer');
  await eventually(
    'the sender is notified that it was not delivered',
    () => ada.undelivered.includes('far'),
    2000,
  );

  // A newcomer enters on a pod that has the room, and leaves; a participant that loses its connection resumes on the other pod.
  const newcomer = await Client.enter(two.url, cas.room, 'Newcomer');
  t.after(() => newcomer.drop());
  assert.ok(newcomer.welcome.roster.length >= PER_ROOM);
  await eventually('Cas sees the newcomer', () => cas.roster.has(newcomer.participant));
  const mover = crowd.people.at(-1);
  mover?.move();
  await eventually(
    'the participant that lost its connection is back',
    () => mover?.isIn && mover.welcomes === 2,
  );

  await pause(Math.max(0, ALONE_AFTER_MS - (performance.now() - downAt)));
  const alone = await eventually('an ad-hoc room opens', () => enterFresh(one), 3000);
  await pause(Math.max(0, outageMs - (performance.now() - downAt)));
  newcomer.leave();
  await newcomer.waitForClose();
  assert.equal(await relayCode(one), undefined, 'the last leases that it received still count');

  await nats.start();
  const upAt = performance.now();
  await eventually('both are ready', async () => (await isReady(one.url)) && (await isReady(two.url)));
  const readyMs = performance.now() - upAt;
  await eventually('rosters agree', () => crowd.agrees(), AGREEMENT_TIMEOUT_MS + readyMs);
  const agreeMs = performance.now() - upAt;
  ada.send(cas, 'again', 'a later offer');
  await eventually('messages cross again', () => cas.directed.includes('a later offer'));
  // The participants of the newcomer's room on its pod saw it join and leave; no other saw a change.
  crowd.assertUndisturbed({ except: newcomer.participant });
  assert.ok(
    crowd.people.every((person) => person === mover || person.welcomes === 1),
    'sockets stayed open',
  );
  t.diagnostic(JSON.stringify({ outageMs, readyMs, agreeMs }));
  alone.drop();
}

/** A media relay publishes its lease until the pod knows it. */
async function knowsRelay(pod: PodProcess, nats: string): Promise<void> {
  const relay: MediaRelay = {
    relay: 'relay-1',
    epoch: 1,
    role: 'origin',
    url: 'https://relay-1.example.org:4443/',
    certificateHashes: [],
    sessions: 0,
    capacity: 10,
  };
  const connection = await connect({ servers: nats });
  await eventually('the pod knows the relay', async () => {
    connection.publish(mediaRelaySubject('local', relay.relay), JSON.stringify(relay));
    return (await relayCode(pod)) === undefined;
  });
  await connection.close();
}

/** Of the refusal to name a relay for a live broadcast. */
async function relayCode(pod: PodProcess): Promise<string | undefined> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${pod.url}/v1/live/lecture`, { method: 'POST', headers, body: '{}' });
  return answer.ok ? undefined : ((await answer.json()) as ErrorAnswer).code;
}

async function enterFresh(pod: PodProcess): Promise<Client | undefined> {
  const room = randomRoom();
  return (await codeOf(pod, room)) === undefined ? Client.enter(pod.url, room, 'Alone') : undefined;
}

async function codeOf(pod: PodProcess, room: string): Promise<string | undefined> {
  const answer = await join(pod.url, room);
  return answer.ok ? undefined : answer.error.code;
}
