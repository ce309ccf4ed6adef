/** The rates of one network and of the pod: requests over them get a time to retry, and others are not affected. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CODES } from '@parley/protocol/codes';
import { decode } from '@parley/protocol/decode';
import { ErrorAnswer } from '@parley/protocol/http';
import type { RunningPod } from '../../src/server/start.ts';
import { Client, NO_MEDIA, ticketFor } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { Owner, codeIn } from '../support/owner.ts';
import { from, memory, randomRoom, startLimitedPod, startTestPod } from '../support/pod.ts';

const MANY = from('203.0.113.1');
const FEW = from('203.0.113.2');

async function resume(client: Client, { url }: RunningPod, headers: Record<string, string>): Promise<void> {
  client.drop();
  await client.connect(url, headers);
  client.sendResume();
}

async function errorOf(response: Response): Promise<ErrorAnswer> {
  const decoded = decode(ErrorAnswer, await response.json());
  assert.ok(decoded.ok);
  return decoded.message;
}

describe('[LIM-12] [LIM-14] [LIM-17] rates', () => {
  test('[LIM-12] too many resumes of one network are refused with the time to wait, those of others are not (address.resumes)', async (context) => {
    const pod = await startLimitedPod(context, { 'address.resumes': 3 });
    const ada = await Client.enter(pod.url, randomRoom());
    context.after(() => ada.drop());
    for (let resumes = 0; resumes < 3; resumes += 1) {
      await resume(ada, pod, MANY);
      await ada.welcomed();
    }
    await resume(ada, pod, MANY);
    assert.deepEqual(await ada.refusedWith(), {
      code: 'TOO_MANY_REQUESTS',
      close: CODES.TOO_MANY_REQUESTS.close,
    });
    const { retryAfterMs = 0 } = await ada.waitFor('error');
    assert.ok(retryAfterMs > 0 && retryAfterMs <= 20_000, String(retryAfterMs));
    await resume(ada, pod, FEW);
    await ada.welcomed();
  });

  test('[LIM-12] [LIM-20] a token that is replayed from many networks takes no turns of others (participant.resumes)', async (context) => {
    const [most, allowed] = [30, 3];
    const pod = await startLimitedPod(context, { 'pod.resumes': 5, 'participant.resumes': allowed });
    const eve = await Client.enter(pod.url, randomRoom());
    const ada = await Client.enter(pod.url, randomRoom());
    context.after(() => [eve, ada].forEach((client) => client.drop()));
    for (let replay = 0; replay < allowed - 1; replay += 1) {
      await resume(eve, pod, from(`198.51.100.${replay}`));
      // The enter was the first.
      await eve.welcomed();
    }
    for (let replay = 0; replay < most; replay += 1) {
      const since = eve.log.length;
      await resume(eve, pod, from(`203.0.113.${replay}`));
      assert.equal((await eve.refusedWith()).code, 'TOO_MANY_REQUESTS');
      // The first may wait, after the welcomes.
      if (replay > 0) assert.ok(eve.log.slice(since).every(({ type }) => type !== 'wait'));
    }
    const { retryAfterMs = 0 } = await eve.waitFor('error');
    assert.ok(retryAfterMs > 0 && retryAfterMs <= 20_000, String(retryAfterMs));
    for (let honest = 0; honest < allowed - 1; honest += 1) {
      await resume(ada, pod, FEW);
      await ada.welcomed();
    }
  });

  test('[LIM-17] one ticket that is shown from many networks costs one read of the store and one line of the log', async (context) => {
    const shared = memory();
    let reads = 0;
    const store = { ...shared.store, read: (name: string) => ((reads += 1), shared.store.read(name)) };
    const lines: string[] = [];
    const pod = await startTestPod({
      memory: { ...shared, store },
      config: { trustedProxies: 1, logLevel: 'info' },
      onLog: (line) => lines.push(line),
    });
    context.after(() => pod.close());
    const owner = await Owner.of(pod.url);
    const { ticket } = await ticketFor(pod.url, owner.room, { headers: MANY });
    const enter = async (at: number): Promise<Client> => {
      const client = new Client(owner.room);
      await client.connect(pod.url, from(`198.51.100.${at}`));
      client.sendMessage({ type: 'enter', ticket, generation: at + 1, name: 'Eve', media: NO_MEDIA });
      return client;
    };
    reads = 0;
    const eve = await enter(0);
    await eve.welcomed();
    for (let at = 1; at <= 10; at += 1)
      assert.equal((await (await enter(at)).refusedWith()).code, 'TICKET_USED');
    eve.leave();
    await eve.waitForClose();
    assert.equal((await (await enter(11)).refusedWith()).code, 'TICKET_USED');
    assert.equal(reads, 1);
    assert.equal(lines.filter((line) => line.includes('"participant entered"')).length, 1);
  });

  test('[LIM-17] [LIM-12] a ticket that each pod refuses is shown so often and no more (participant.resumes)', async (context) => {
    const pod = await startLimitedPod(context, { 'participant.resumes': 3, 'room.participants': 1 });
    const room = randomRoom();
    const { ticket } = await ticketFor(pod.url, room, { headers: MANY });
    const ada = await Client.enter(pod.url, room);
    context.after(() => ada.drop());
    for (let at = 0; at < 5; at += 1) {
      const client = new Client(room);
      await client.connect(pod.url, from(`198.51.100.${at}`));
      client.sendMessage({ type: 'enter', ticket, generation: 1, name: 'Eve', media: NO_MEDIA });
      assert.equal((await client.refusedWith()).code, at < 3 ? 'ROOM_FULL' : 'TOO_MANY_REQUESTS');
    }
  });

  test('[LIM-17] reads of the store over the rate of the pod are refused, and those of tickets are counted apart (pod.reads)', async (context) => {
    const most = 5;
    const pod = await startLimitedPod(context, { 'pod.reads': 1, 'pod.sockets': most });
    const owner = await Owner.of(pod.url);
    const read = (room: string, at: number): Promise<Response> =>
      fetch(`${pod.url}/v1/rooms/${room}`, { headers: from(`198.51.100.${at}`) });
    for (let junk = 0; junk < 2 * most; junk += 1) {
      assert.equal((await read('NOT_A_ROOM', junk)).status, 400);
      assert.equal((await read(randomRoom(), junk)).status, 200);
    }
    for (let at = 0; at < most; at += 1) assert.equal((await read(owner.room, at)).status, 200);
    const refused = await eventually('the pod refuses', async () => {
      const answer = await read(owner.room, 0);
      return answer.status !== 200 && answer;
    });
    assert.deepEqual([refused.status, (await errorOf(refused)).code], [503, 'POD_FULL']);
    const asked = await eventually('owners too', async () => {
      const answer = await owner.ask(pod.url, 'GET', '/bans');
      return answer.status !== 200 && answer;
    });
    assert.deepEqual([asked.status, codeIn(asked)], [503, 'POD_FULL']);
    const people: Client[] = [];
    context.after(() => people.forEach((client) => client.drop()));
    for (let at = 0; at < most; at += 1) people.push(await Client.enter(pod.url, owner.room, `Person ${at}`));
    people[0]?.drop();
    await eventually('its socket is gone', () => pod.pod.socketCount < most);
    const tooMany = await eventually('the pod refuses tickets', async () => {
      const client = new Client(owner.room);
      await client.requestEntry(pod.url, 'Eve');
      const outcome = await client.welcomed().then(
        () => undefined,
        () => client.refusedWith(),
      );
      client.drop();
      await eventually('its socket is gone', () => pod.pod.socketCount < most);
      return outcome;
    });
    assert.deepEqual(tooMany, { code: 'POD_FULL', close: CODES.POD_FULL.close });
  });

  test('[LIM-14] too many reads of one network are refused, on its sockets too, which stay open (address.reads)', async (context) => {
    const pod = await startLimitedPod(context, { 'address.reads': 2 });
    const room = randomRoom();
    const ada = await Client.enter(pod.url, room);
    await resume(ada, pod, MANY);
    await ada.welcomed();
    context.after(() => ada.drop());
    const read = (headers: Record<string, string>, id: string = room): Promise<Response> =>
      fetch(`${pod.url}/v1/rooms/${id}`, { headers });
    for (let junk = 0; junk < 5; junk += 1) assert.equal((await read(MANY, 'NOT_A_ROOM')).status, 400);
    assert.equal((await read(MANY)).status, 200);
    assert.equal((await read(MANY)).status, 200);
    const refused = await read(MANY);
    assert.equal(refused.status, 429);
    assert.equal((await errorOf(refused)).code, 'TOO_MANY_REQUESTS');
    assert.equal((await read(FEW)).status, 200);
    ada.sendMessage({ type: 'relay' });
    const error = await ada.waitFor('error');
    assert.deepEqual([error.code, error.fatal], ['TOO_MANY_REQUESTS', false]);
    ada.sendMessage({ type: 'ping' });
    await ada.waitFor('pong');
  });
});
