/** Chat lines that a resume brings along: what a client says of them counts only where a pod signed it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatLine } from '@parley/protocol/people';
import type { RunningPod } from '../../src/server/start.ts';
import { Client } from '../support/client.ts';
import { keySet, memory, randomRoom, startTestPod } from '../support/pod.ts';

const AN_HOUR_MS = 3_600_000;

interface Region {
  readonly pod: RunningPod;
  /** As when every pod of the region dies at once: what only pods knew is lost. */
  restart(keys?: unknown): Promise<RunningPod>;
}

async function withRegion(act: (region: Region) => Promise<void>, firstKeys: unknown = keySet()) {
  const shared = memory();
  const start = (keys: unknown): Promise<RunningPod> => startTestPod({ memory: shared, keys });
  let pod = await start(firstKeys);
  try {
    await act({
      get pod() {
        return pod;
      },
      async restart(keys = firstKeys) {
        await pod.close();
        pod = await start(keys);
        return pod;
      },
    });
  } finally {
    await pod.close();
  }
}

async function two(url: string, room = randomRoom()): Promise<{ ada: Client; eve: Client }> {
  const ada = await Client.enter(url, room, 'Ada');
  const eve = await Client.enter(url, room, 'Eve');
  return { ada, eve };
}

/** The texts that came with the last welcome of this client and after it. */
function linesSeenBy(client: Client): readonly ChatLine[] {
  const said = client.log.flatMap((message) => (message.type === 'chat' ? [message.line] : []));
  return [...client.welcome.chat, ...said];
}

/** Resolves when all earlier messages have arrived. */
async function settled(client: Client): Promise<void> {
  const since = client.log.length;
  client.sendMessage({ type: 'ping' });
  await client.waitFor('pong', { since });
}

test('[CHAT-7] an own line without proof is shown under the name of the roster, not under the one it brings', () =>
  withRegion(async ({ pod: { url } }) => {
    const { ada, eve } = await two(url);
    const line = { id: 'line-0001', from: eve.participant, name: 'Ada', text: 'I am Ada', at: Date.now() };
    await eve.resume(url, 'Eve', [line]);
    const shown = await ada.waitFor('chat');
    assert.deepEqual([shown.line.from, shown.line.name], [eve.participant, 'Eve']);
    for (const client of [ada, eve]) client.drop();
  }));

test('[CHAT-7] a brought line passes the checks of chat: its length (chat.chars), its number, its id', () =>
  withRegion(async ({ pod }) => {
    const { limits } = pod.pod;
    const { ada, eve } = await two(pod.url);
    const line = (number: number, text = `line ${number}`) => ({
      id: `line-${1000 + number}`,
      from: eve.participant,
      name: 'Eve',
      text,
      at: Date.now(),
    });
    await eve.resume(pod.url, 'Eve', [line(0, 'x'.repeat(limits['chat.chars'] + 1))]);
    assert.deepEqual(eve.welcome.chat, [], 'too long');
    await eve.resume(pod.url, 'Eve', [line(1, 'first'), line(1, 'second')]);
    assert.deepEqual(
      eve.welcome.chat.map(({ text }) => text),
      ['first'],
      'one id twice',
    );
    await eve.resume(
      pod.url,
      'Eve',
      Array.from({ length: 20 }, (_, at) => line(at + 2)),
    );
    assert.equal(eve.welcome.chat.length, 1 + 2 * limits['chat.lines'], 'a burst');
    const since = eve.log.length;
    eve.sendMessage({ type: 'chat', id: 'line-2000', text: 'one more' });
    const refused = await eve.waitFor('error', { since });
    assert.deepEqual([refused.code, refused.ref], ['TOO_MANY_CHAT_LINES', 'line-2000']);
    await settled(ada);
    assert.equal(linesSeenBy(ada).length, 1 + 2 * limits['chat.lines']);
    for (const client of [ada, eve]) client.drop();
  }));

test('[CHAT-7] the time of an own line without proof lies between the first welcome and now', () =>
  withRegion(async ({ pod: { url } }) => {
    const before = Date.now();
    const { ada, eve } = await two(url);
    const line = { from: eve.participant, name: 'Eve', text: 'when?' };
    await eve.resume(url, 'Eve', [
      { ...line, id: 'line-past', at: 1 },
      { ...line, id: 'line-future', at: Date.now() + AN_HOUR_MS },
    ]);
    const { chat } = await eve.resume(url, 'Eve');
    assert.equal(chat.length, 2);
    for (const { at, id } of chat) assert.ok(at >= before && at <= Date.now(), `${id} at ${at}`);
    for (const client of [ada, eve]) client.drop();
  }));

test('[CHAT-8] while the room recovers no line of another participant is taken without the proof of a pod', () =>
  withRegion(async (region) => {
    const { ada, eve } = await two(region.pod.url);
    ada.sendMessage({ type: 'chat', id: 'line-0001', text: 'hello' });
    const { line } = await eve.waitFor('chat');
    const other = await two(region.pod.url);
    other.ada.sendMessage({ type: 'chat', id: 'line-0002', text: 'in another room' });
    const elsewhere = (await other.eve.waitFor('chat')).line;
    await region.restart();
    const { proof: _none, ...bare } = line as ChatLine & { proof?: string };
    const { recovering, chat } = await eve.resume(region.pod.url, 'Eve', [
      { ...bare, id: 'line-bare', text: 'without proof' },
      { ...bare, id: 'line-false', text: 'with an invented proof', proof: 'A'.repeat(22) },
      { ...line, text: 'I owe you money' },
      { ...line, id: 'line-other' },
      { ...line, name: 'Mallory' },
      { ...line, at: line.at + 1 },
      elsewhere,
    ]);
    assert.equal(recovering, true);
    assert.deepEqual(chat, []);
    const metrics = await (await fetch(`${region.pod.url}/metrics`)).text();
    assert.match(metrics, /parley_chat_lines_dropped_total\{reason="proof"\} 7/);
    for (const client of [ada, eve, other.ada, other.eve]) client.drop();
  }));

test('[CHAT-8] [CHAT-4] after every pod died, lines come back from any client that has them, under their own names', () =>
  withRegion(async (region) => {
    const { ada, eve } = await two(region.pod.url);
    ada.sendMessage({ type: 'chat', id: 'line-0001', text: 'hello' });
    const { line } = await eve.waitFor('chat');
    await region.restart();
    // Eve has taken another name, and Ada comes back with nothing.
    assert.deepEqual((await eve.resume(region.pod.url, 'Eva', [line])).chat, [line]);
    assert.deepEqual((await ada.resume(region.pod.url)).chat, [line]);
    for (const client of [ada, eve]) client.drop();
  }));

test('[CHAT-7] [CHAT-1] lines of two senders under one id both come back', () =>
  withRegion(async (region) => {
    const { ada, eve } = await two(region.pod.url);
    ada.sendMessage({ type: 'chat', id: 'line-0001', text: 'from Ada' });
    const { line: first } = await eve.waitFor('chat');
    eve.sendMessage({ type: 'chat', id: 'line-0001', text: 'from Eve' });
    const { line: second } = await ada.waitFor('chat');
    await region.restart();
    assert.deepEqual((await eve.resume(region.pod.url, 'Eve', [first, second, first])).chat, [first, second]);
    for (const client of [ada, eve]) client.drop();
  }));

test('[CHAT-8] chat-ack carries what its sender needs to bring the line back as it was taken', () =>
  withRegion(async (region) => {
    const { ada, eve } = await two(region.pod.url);
    ada.sendMessage({ type: 'chat', id: 'line-0001', text: 'hello' });
    const { type: _type, ...taken } = await ada.waitFor('chat-ack');
    const { line } = await eve.waitFor('chat');
    const brought = { from: ada.participant, text: 'hello', ...taken };
    assert.deepEqual(brought, line);
    await region.restart();
    assert.deepEqual((await ada.resume(region.pod.url, 'Ada', [brought])).chat, [line]);
    for (const client of [ada, eve]) client.drop();
  }));

test('[CHAT-8] [KEY-3] a line signed with a key that is still in the set is taken, and with one that was dropped it is not', () => {
  const [old, next] = [keySet('old'), keySet('next')];
  return withRegion(async (region) => {
    const { ada, eve } = await two(region.pod.url);
    ada.sendMessage({ type: 'chat', id: 'line-0001', text: 'hello' });
    const { line } = await eve.waitFor('chat');
    await region.restart({ active: 'next', keys: [...old.keys, ...next.keys] });
    assert.deepEqual((await eve.resume(region.pod.url, 'Eve', [line])).chat, [line]);
    await region.restart(next);
    assert.deepEqual((await eve.resume(region.pod.url, 'Eve', [line])).chat, []);
    for (const client of [ada, eve]) client.drop();
  }, old);
});

test('[CHAT-8] the private part that proved lines proves them as a chat key too', () => {
  const old = keySet('old');
  return withRegion(async (region) => {
    const { ada, eve } = await two(region.pod.url);
    ada.sendMessage({ type: 'chat', id: 'line-0001', text: 'hello' });
    const { line } = await eve.waitFor('chat');
    await region.restart({ ...old, chat: old.keys.map(({ d }) => ({ kty: 'oct', k: d })) });
    assert.deepEqual((await eve.resume(region.pod.url, 'Eve', [line])).chat, [line]);
    for (const client of [ada, eve]) client.drop();
  }, old);
});

test('[CHAT-8] [KEY-2] regions with private keys of their own take lines by the chat keys that they share', () => {
  const [eu, us] = [keySet('eu'), keySet('us')];
  const publicOf = ({ keys }: typeof eu): object[] => keys.map(({ d: _private, ...key }) => key);
  const chat = (letter: string): object => ({ kty: 'oct', k: letter.repeat(43) });
  const ofEu = (...keys: object[]): object => ({ ...eu, keys: [...eu.keys, ...publicOf(us)], chat: keys });
  const ofUs = (...keys: object[]): object => ({ ...us, keys: [...publicOf(eu), ...us.keys], chat: keys });
  return withRegion(
    async (region) => {
      const { ada, eve } = await two(region.pod.url);
      ada.sendMessage({ type: 'chat', id: 'line-0001', text: 'hello' });
      const { line } = await eve.waitFor('chat');
      await region.restart(ofUs(chat('B'), chat('A')));
      assert.deepEqual((await eve.resume(region.pod.url, 'Eve', [line])).chat, [line]);
      await region.restart(ofUs(chat('B')));
      assert.deepEqual((await eve.resume(region.pod.url, 'Eve', [line])).chat, []);
      for (const client of [ada, eve]) client.drop();
    },
    ofEu(chat('A')),
  );
});
