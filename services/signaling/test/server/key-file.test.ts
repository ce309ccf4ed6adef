/** A running pod whose key set is replaced, as Kubernetes replaces the file of a Secret. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createChatProofs } from '../../src/adapters/chat-proofs.ts';
import { createTokens } from '../../src/adapters/tokens.ts';
import { followKeyFile } from '../../src/server/key-file.ts';
import { createLog, replaceableMarks, roomMarks } from '../../src/server/log.ts';
import type { RunningPod } from '../../src/server/start.ts';
import { Client, NO_MEDIA, ticketFor } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { keySet, randomRoom, startTestPod } from '../support/pod.ts';
import { SecretVolume } from '../support/secret-volume.ts';

const FILE = 'keys.json';
const HOUR_MS = 3_600_000;

type Keys = ReturnType<typeof keySet>;
const publicOf = ({ keys }: Keys): object[] => keys.map(({ d: _private, ...key }) => key);

interface Followed {
  readonly pod: RunningPod;
  readonly lines: readonly string[];
  /** Replaces the file; resolves when the pod has taken its keys. */
  readonly give: (set: object) => Promise<void>;
  readonly write: (text: string) => void;
}

async function follow(t: TestContext, first: Keys): Promise<Followed> {
  const volume = new SecretVolume({ [FILE]: JSON.stringify(first) });
  const pod = await startTestPod({ keys: first });
  const lines: string[] = [];
  const log = createLog(
    { keySet: first, logLevel: 'info', pod: 'pod-a', region: 'eu' },
    { write: (line) => lines.push(line) },
  );
  const useKeys = (set: unknown): void => pod.useKeys(set);
  const following = followKeyFile({ file: volume.file(FILE), keySet: first, useKeys, log, everyMs: 5 });
  t.after(async () => {
    following.close();
    await pod.close();
    volume.remove();
  });
  return {
    pod,
    lines,
    async give(set) {
      const logged = lines.length;
      volume.replace({ [FILE]: JSON.stringify(set) });
      await eventually('the set is used', () =>
        lines.slice(logged).some((line) => line.includes('was replaced')),
      );
    },
    write: (text) => volume.replace({ [FILE]: text }),
  };
}

/** Enters with a ticket that another region signed. */
async function enterWith(pod: RunningPod, keys: Keys): Promise<Client> {
  const client = new Client(randomRoom());
  const claims = { sub: `p${'0'.repeat(16)}`, room: client.room };
  const ticket = createTokens(keys).signTicket(claims, HOUR_MS);
  await client.connect(pod.url);
  client.generation = 1;
  client.sendMessage({ type: 'enter', ticket, generation: 1, name: 'Bo', media: NO_MEDIA });
  return client;
}

const kidOf = (token: string): unknown =>
  (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: unknown }).kid;

test('[KEY-8] [KEY-3] keys are added, switched and dropped in a running pod, whose sockets stay', async (t) => {
  const [old, next] = [keySet('old'), keySet('next')];
  const { pod, give } = await follow(t, old);
  const ada = await Client.enter(pod.url, randomRoom());
  assert.equal((await (await enterWith(pod, next)).refusedWith()).code, 'TICKET_INVALID');

  await give({ ...old, keys: [...old.keys, ...publicOf(next)] });
  const bo = await enterWith(pod, next);
  assert.equal(kidOf((await bo.welcomed()).resume), 'old');

  await give({ active: 'next', keys: [...next.keys, ...publicOf(old)] });
  assert.equal(kidOf((await ticketFor(pod.url, randomRoom())).ticket), 'next');
  const resumed = await bo.resume(pod.url, 'Bo');
  assert.equal(kidOf(resumed.resume), 'next');

  await give(next);
  assert.equal((await (await enterWith(pod, old)).refusedWith()).code, 'TICKET_INVALID');
  for (const client of [ada, bo]) {
    const since = client.log.length;
    client.sendMessage({ type: 'ping' });
    await client.waitFor('pong', { since });
    client.drop();
  }
});

test('[KEY-8] [CHAT-8] lines are proved by the first chat key that the set has now, and verified with all of them', async (t) => {
  const own = keySet('own');
  const [first, second] = ['A', 'B'].map((letter) => ({ kty: 'oct', k: letter.repeat(43) }));
  const { pod, give } = await follow(t, own);
  const room = randomRoom();
  const [ada, eve] = [await Client.enter(pod.url, room, 'Ada'), await Client.enter(pod.url, room, 'Eve')];
  for (const [at, chat] of [[first], [second, first], [second]].entries()) {
    await give({ ...own, chat });
    const since = eve.log.length;
    ada.sendMessage({ type: 'chat', id: `line-000${at}`, text: 'hello' });
    const { proof, ...line } = (await eve.waitFor('chat', { since })).line;
    const isProvedBy = (key: object | undefined): boolean =>
      createChatProofs({ ...own, chat: [key] }).verify(room, line, proof);
    assert.deepEqual([isProvedBy(first), isProvedBy(second)], [at === 0, at > 0]);
  }
  for (const client of [ada, eve]) client.drop();

  const proofs = createChatProofs({ ...own, chat: [first] });
  const line = { id: 'line-0001', from: ada.participant, name: 'Ada', text: 'hello', at: 0 };
  const proof = proofs.sign(room, line);
  proofs.useKeys({ ...own, chat: [second, first] });
  assert.ok(proofs.verify(room, line, proof));
  proofs.useKeys({ ...own, chat: [second] });
  assert.ok(!proofs.verify(room, line, proof));
});

test('[KEY-8] a set that is not valid changes nothing, and is logged once, without its content', async (t) => {
  const [old, next] = [keySet('old'), keySet('next')];
  const { pod, lines, write, give } = await follow(t, old);
  const secret = old.keys[0]?.d ?? '';
  const bad = {
    'the file is not JSON': `{"keys": "${secret}`,
    'has no private part': JSON.stringify({ active: 'next', keys: [...old.keys, ...publicOf(next)] }),
    'two keys have the kid old': JSON.stringify({ ...old, keys: [...old.keys, ...old.keys] }),
  };
  for (const [reason, text] of Object.entries(bad)) {
    const logged = lines.length;
    write(text);
    await eventually(reason, () => lines.length > logged);
    assert.ok(lines.at(-1)?.includes(reason), lines.at(-1));
    (await Client.enter(pod.url, randomRoom())).drop();
  }
  // The pod has looked at the last one many times when it takes this one.
  await give({ ...old, keys: [...old.keys, ...publicOf(next)] });
  assert.equal(lines.length, Object.keys(bad).length + 1);
  assert.ok(!lines.join('').includes(secret));
  const client = await enterWith(pod, next);
  await client.welcomed();
  client.drop();
});

test('[KEY-8] [LOG-1] rooms are named in the log by the key that is in use', () => {
  const [one, other] = [keySet('one'), keySet('other')];
  const [marks, room] = [replaceableMarks(one), randomRoom()];
  assert.equal(marks.mark(room), roomMarks(one)(room));
  marks.useKeys(other);
  assert.equal(marks.mark(room), roomMarks(other)(room));
});
