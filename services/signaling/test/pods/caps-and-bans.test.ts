/** Hard caps, names and bans under load: four processes, one NATS server with JetStream. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { after, before, test } from 'node:test';
import { podNameOf } from '@parley/protocol/ids';
import { Client, join } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { startNats, type TestNats } from '../support/nats.ts';
import { Owner, codeIn } from '../support/owner.ts';
import { writeKeys } from '../support/pod.ts';
import { startPodProcess, type PodProcess } from './support/pod-process.ts';

const PODS = ['one', 'two', 'three', 'four'];
const keys = writeKeys();
let nats: TestNats;
let pods: readonly PodProcess[];
before(async () => {
  nats = await startNats();
  pods = await Promise.all(
    PODS.map((name) =>
      startPodProcess({ name, nats: nats.url, keysFile: keys.file, limits: { 'resume.grace': 5000 } }),
    ),
  );
});
after(async () => {
  for (const pod of pods) await pod.kill();
  await nats.close();
  keys.remove();
});

const podFor = (at: number): PodProcess => {
  const pod = pods[at % pods.length];
  assert.ok(pod);
  return pod;
};

/** The result of joining: the client, or the code. A pod that is busy gives a slot, which this waits for as every client does. */
async function attempt(at: number, room: string, body = '{}'): Promise<Client | string> {
  const { url } = podFor(at);
  let joined = await join(url, room, { body });
  while (!joined.ok && joined.error.code === 'BUSY') {
    const { retryAfterMs = 0, slot } = joined.error;
    await pause(retryAfterMs);
    joined = await join(url, room, { body: JSON.stringify({ ...(JSON.parse(body) as object), slot }) });
  }
  if (!joined.ok) return joined.error.code;
  const client = new Client(room);
  await client.connect(url);
  client.sendMessage({
    type: 'enter',
    ticket: joined.answer.ticket,
    generation: 1,
    name: `Person ${at}`,
    media: { audio: false, video: false, screen: false },
  });
  return client.welcomed().then(
    () => client,
    () => client.refusedWith().then(({ code, close }) => code ?? String(close)),
  );
}

const isIn = (outcome: Client | string): outcome is Client => typeof outcome !== 'string';

test('[MOD-7] of 200 that join a room capped at 50 over four pods at once exactly 50 enter; seats of departed participants, and of a killed pod, are free again', async () => {
  const owner = await Owner.of(podFor(0).url, { cap: 50 });
  const outcomes = await Promise.all(Array.from({ length: 200 }, (_, at) => attempt(at, owner.room)));
  const inside = outcomes.filter(isIn);
  assert.equal(inside.length, 50);
  assert.deepEqual(new Set(outcomes.filter((outcome) => !isIn(outcome))), new Set(['ROOM_FULL']));
  await eventually('all participants see all others', () =>
    inside.every((client) => peopleSeenBy(client) === 50),
  );

  for (const client of inside.slice(0, 10)) client.leave();
  await Promise.all(inside.slice(0, 10).map((client) => client.waitForClose()));
  const again = await eventually('ten seats are free', async () => {
    const tried = await Promise.all(Array.from({ length: 20 }, (_, at) => attempt(at, owner.room)));
    inside.push(...tried.filter(isIn));
    return inside.length >= 60;
  });
  assert.ok(again);
  assert.equal(inside.length, 60);

  // The distribution of seats over the pods is random: the pod with most of them is killed.
  const staying = inside.slice(10);
  const seatsOn = (pod: PodProcess) =>
    staying.filter((client) => podNameOf(client.welcome.pod) === pod.name).length;
  const victim = pods.reduce((most, pod) => (seatsOn(pod) > seatsOn(most) ? pod : most));
  const others = PODS.flatMap((name, at) => (name === victim.name ? [] : [at]));
  const lost = seatsOn(victim);
  assert.ok(lost > 0);
  await victim.kill();
  const after: Client[] = [];
  await eventually(
    'the seats of the killed pod are free',
    async () => {
      const tried = await Promise.all(
        others.flatMap((at) => Array.from({ length: lost }, () => attempt(at, owner.room))),
      );
      after.push(...tried.filter(isIn));
      return after.length >= lost;
    },
    30_000,
  );
  assert.equal(after.length, lost);
  await victim.start();
  for (const client of [...inside, ...after]) client.drop();
});

test('[ROOM-5] of 50 that create a room of one name over four pods at once exactly one succeeds', async () => {
  const name = `room-${randomBytes(5).toString('hex')}`;
  const answers = await Promise.all(
    Array.from({ length: 50 }, async (_, at) => {
      const response = await fetch(`${podFor(at).url}/v1/rooms`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
      });
      return { status: response.status, body: await response.json() };
    }),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.equal(answers.filter((answer) => codeIn(answer) === 'ROOM_EXISTS').length, 49);
});

// The cap is never reached: on a fast machine the banned one fills many seats before the ban.
for (const cap of [undefined, 1000]) {
  test(`[MOD-2] a visitor that is banned while many join ${cap === undefined ? 'a room' : 'a room with a cap'} is never inside 2 s later, on any pod`, async () => {
    const owner = await Owner.of(podFor(0).url, cap === undefined ? {} : { cap });
    const mallory = JSON.stringify({ device: 'mallory-mallory-mallory' });
    const first = await attempt(1, owner.room, mallory);
    assert.ok(isIn(first));
    const witness = await attempt(2, owner.room);
    assert.ok(isIn(witness));

    const storm = new AbortController();
    const outcomes: (Client | string)[] = [];
    const late: (Client | string)[] = [];
    const people: Client[] = [];
    let answered = false;
    const again = async (at: number): Promise<void> => {
      while (!storm.signal.aborted) {
        const into = answered ? late : outcomes;
        into.push(await attempt(at, owner.room, mallory));
      }
    };
    const others = async (at: number): Promise<void> => {
      for (let count = 0; count < 5; count += 1) {
        const outcome = await attempt(at, owner.room);
        if (isIn(outcome)) people.push(outcome);
      }
    };
    const running = [...PODS.keys()].flatMap((at) => [again(at), again(at), others(at)]);
    await pause(300);
    const banned = await owner.to(podFor(3).url, first.participant, 'ban', {});
    assert.equal(banned.status, 200);
    answered = true;
    await pause(2000);
    storm.abort();
    await Promise.all(running);

    const inside = outcomes.filter(isIn);
    assert.ok(inside.length > 0, 'some entered before the ban');
    assert.deepEqual(
      new Set(late.map((outcome) => (isIn(outcome) ? 'in' : outcome))),
      new Set(['BANNED']),
      'a visitor that began to join after the answer is refused',
    );
    for (const client of [first, ...inside]) assert.equal((await client.refusedWith(100)).code, 'BANNED');
    const theirs = new Set([first, ...inside].map(({ participant }) => participant));
    assert.deepEqual(
      presentTo(witness).filter((participant) => theirs.has(participant)),
      [],
    );
    assert.equal(people.length, 5 * PODS.length, 'no other visitor was refused');
    for (const client of [witness, ...people]) client.drop();
  });
}

/** The participants of the room that a client was sent. */
function presentTo(client: Client): string[] {
  const present = new Set(client.welcome.roster.map(({ participant }) => participant));
  for (const message of client.log) {
    if (message.type === 'joined') present.add(message.member.participant);
    if (message.type === 'left') present.delete(message.participant);
  }
  return [...present];
}

const peopleSeenBy = (client: Client): number => presentTo(client).length;
