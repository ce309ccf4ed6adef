/** SIGTERM of a full pod: its participants move to other pods as the same participants, and the process ends whatever its sockets do. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { CODES } from '@parley/protocol/codes';
import { socketPath } from '@parley/protocol/http';
import { assertTakesAtMost } from '../../../../infra/e2e/support/stalls.ts';
import { batchSize } from '../../src/server/drain.ts';
import { Client, join } from '../support/client.ts';
import { eventually, within } from '../support/deadline.ts';
import { startNats, type TestNats } from '../support/nats.ts';
import { randomRoom, writeKeys } from '../support/pod.ts';
import { Crowd } from './support/crowd.ts';
import { startPodProcess, type PodProcess } from './support/pod-process.ts';
import { ResumingClient } from './support/resuming-client.ts';

/** So few move within two seconds; with time for a busy machine, a second for clients that ignore their slot (RES-8), and a second for their first attempt to resume. */
const MOVED_WITHIN_MS = 12_000;
/** P3: after the last event, all rosters agree within this time. */
const AGREE_WITHIN_MS = 2000;
/** Only guards against a test that hangs. */
const HANG_MS = 30_000;
const ROOMS = 125;
const PER_ROOM = 4;
/** Seven batches, so that the last is never given slots when the drain is hurried within its first second. */
const PATIENT = 350;
const PATIENT_PER_ROOM = 10;

const keys = writeKeys();
const opened: { kill(): Promise<void> }[] = [];
let nats: TestNats;
before(async () => {
  nats = await startNats();
});
after(async () => {
  for (const one of opened) await one.kill();
  await nats.close();
  keys.remove();
});

async function place(name: string): Promise<PodProcess> {
  const pod = await startPodProcess({ name, nats: nats.url, keysFile: keys.file });
  opened.push(pod);
  return pod;
}

const statusOf = (url: string): Promise<number> => fetch(url).then(({ status }) => status);

test('[RES-8] a pod drains 250 clients a second, and a large one drains within drain.window', () => {
  assert.equal(batchSize(1, 10_000), 50);
  assert.equal(batchSize(2500, 10_000), 50);
  assert.equal(batchSize(8000, 10_000), 160);
});

describe('SIGTERM', () => {
  test('[RES-8] of a pod with 500 sockets: all are on other pods within 12 s as the same participants, rosters agree, and none saw left or joined', async (t) => {
    const [full, one, two] = await Promise.all([place('full'), place('one'), place('two')]);
    const crowd = await Crowd.gather({
      rooms: ROOMS,
      perRoom: PER_ROOM,
      // Participants of one room move to different pods.
      podsOf: (_room, seat) => [full.url, seat % 2 === 0 ? one.url : two.url],
      ignoresSlot: (_room, seat) => seat === 3,
    });
    try {
      const since = performance.now();
      full.signal('SIGTERM');
      const ended = full.ended();
      await eventually('it is not ready', async () => (await statusOf(`${full.url}/readyz`)) === 503);
      const noticedMs = performance.now() - since;
      // Newcomers are refused, with the code that sends them to another pod.
      const refused = await join(full.url, randomRoom());
      assert.deepEqual([refused.ok, !refused.ok && refused.error.code], [false, 'NOT_READY']);
      await assert.rejects(new Client(randomRoom()).connect(full.url), /503/);

      await assertTakesAtMost(MOVED_WITHIN_MS - noticedMs, 'the move to other pods', () =>
        eventually('all are on other pods', () => crowd.isElsewhere(full.url), HANG_MS),
      );
      const elsewhereMs = performance.now() - since;
      await assertTakesAtMost(AGREE_WITHIN_MS, 'agreement', () =>
        eventually('rosters agree', () => crowd.agrees(), HANG_MS),
      );
      const agreeMs = performance.now() - since;
      assert.equal(await within('the process ends', ended, 5000), 0);
      const exitMs = performance.now() - since;
      crowd.assertUndisturbed();
      assert.ok(
        crowd.people.every(({ welcomes }) => welcomes === 2),
        'each client moved once',
      );
      assertPaced(crowd);
      assert.ok(crowd.agrees(), 'rosters still agree when the process has ended');
      t.diagnostic(JSON.stringify({ noticedMs, elsewhereMs, agreeMs, exitMs }));
    } finally {
      crowd.close();
    }
  });

  test('[RES-5] [RES-8] a client that opens its next socket beside the old one is away for nobody', async () => {
    const [ending, other] = await Promise.all([place('ending'), place('other')]);
    const room = randomRoom();
    const ben = await ResumingClient.enter({ room, name: 'Ben', pods: [other.url] });
    const ada = await ResumingClient.enter({ room, name: 'Ada', pods: [ending.url, other.url] });
    const eve = await ResumingClient.enter({ room, name: 'Eve', pods: [ending.url], ignoresSlot: true });
    const people = [ben, ada, eve];
    try {
      await eventually('all see each other', () =>
        people.every(({ roster }) => roster.size === people.length),
      );
      ending.signal('SIGTERM');
      await eventually('Ada is on the other pod', () => ada.welcomes === 2);
      await eventually('the pod closed her old socket', () => ada.replaced);
      assert.equal(await within('the process ends', ending.ended(), 10_000), 0);
      for (const { name, log } of people)
        assert.deepEqual(
          log.filter(({ type, participant }) => participant === ada.participant && type !== 'joined'),
          [],
          name,
        );
    } finally {
      for (const one of people) one.close();
    }
  });

  test('[RES-8] a second signal, and a peer that never answers, do not keep the process', async () => {
    const pod = await place('held');
    const people: Client[] = [];
    while (people.length < PATIENT) {
      const room = randomRoom();
      const some = Array.from({ length: PATIENT_PER_ROOM }, () => Client.enter(pod.url, room));
      people.push(...(await Promise.all(some)));
    }
    const hung = await hungSocket(pod.url);
    const since = performance.now();
    pod.signal('SIGTERM');
    await Promise.race(people.map((one) => one.waitFor('goaway')));
    pod.signal('SIGTERM');
    for (const { close } of await Promise.all(people.map((one) => one.waitForClose())))
      assert.equal(close, CODES.GOAWAY.close);
    assert.ok(
      people.some(({ log }) => log.every(({ type }) => type !== 'goaway')),
      'the later batches were not waited for',
    );
    assert.equal(await within('the process ends', pod.ended(), 6000 - (performance.now() - since)), 0);
    hung.destroy();
  });

  test('[RES-8] without NATS the process ends as well', async () => {
    const pod = await place('alone');
    const ada = await Client.enter(pod.url, randomRoom());
    await nats.kill();
    pod.signal('SIGTERM');
    const { close } = await ada.waitForClose();
    assert.equal(close, CODES.GOAWAY.close);
    assert.equal(await within('the process ends', pod.ended(), 10_000), 0);
    await nats.start();
  });
});

/** Slots were given batch by batch, and within a batch not to all at once; clients that stayed were closed with 1012. */
function assertPaced(crowd: Crowd): void {
  const given = crowd.people.map(({ slots }) => slots.at(0));
  const times = given.map((slot) => slot?.at ?? Number.NaN);
  assert.ok(Math.max(...times) - Math.min(...times) > 1500, 'ten batches, 200 ms apart');
  assert.ok(new Set(given.map((slot) => slot?.afterMs)).size > 20, 'slots differ');
  const stayed = crowd.people.filter(({ closes }) => closes.length > 0);
  assert.ok(stayed.length >= ROOMS, 'those who ignore their slot were closed');
  const closed = stayed.flatMap(({ closes }) => closes.slice(0, 1));
  assert.ok(closed.every(({ code }) => code === CODES.GOAWAY.close));
  const closedAt = closed.map(({ at }) => at);
  assert.ok(Math.max(...closedAt) - Math.min(...closedAt) > 1000, 'nor were they closed all at once');
}

/** A WebSocket whose peer reads nothing and answers nothing. */
async function hungSocket(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(
    `GET ${socketPath(randomRoom())} HTTP/1.1\r\nhost: ${hostname}\r\nupgrade: websocket\r\nconnection: upgrade\r\n` +
      'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  );
  await once(socket, 'readable');
  socket.pause();
  return socket;
}
