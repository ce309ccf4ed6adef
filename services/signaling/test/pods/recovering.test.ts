/** A room whose only pod died trusts the tokens of its participants, and nothing else. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Code } from '@parley/protocol/codes';
import { createTokens } from '../../src/adapters/tokens.ts';
import { Client, ticketFor } from '../support/client.ts';
import { startNats, type TestNats } from '../support/nats.ts';
import { keySet, randomRoom, writeKeys } from '../support/pod.ts';
import { startPodProcess, type PodProcess } from './support/pod-process.ts';

const MINUTE_MS = 60_000;

const keys = writeKeys();
let nats: TestNats;
let pod: PodProcess;
before(async () => {
  nats = await startNats();
  pod = await startPodProcess({ name: 'only', nats: nats.url, keysFile: keys.file });
});
after(async () => {
  await pod.kill();
  await nats.close();
  keys.remove();
});

test('[RES-6] [RES-7] [KEY-4] the room recovers: foreign, old and swapped tokens are refused, before the first comes back and after', async () => {
  const room = randomRoom();
  const ada = await Client.enter(pod.url, room, 'Ada');
  const elsewhere = await Client.enter(pod.url, randomRoom(), 'Eve');
  const { ticket } = await ticketFor(pod.url, room);
  const claims = { sub: ada.participant, room, generation: 1, since: Date.now() };
  const ours = createTokens(JSON.parse(readFileSync(keys.file, 'utf8')));
  // Another installation, whose key happens to have the same id.
  const theirs = createTokens(keySet());
  const bad: readonly (readonly [what: string, code: Code, token: string])[] = [
    ['another key', 'RESUME_INVALID', theirs.signResume(claims, MINUTE_MS)],
    ['too old', 'RESUME_EXPIRED', ours.signResume(claims, -MINUTE_MS)],
    ['of another room', 'RESUME_INVALID', elsewhere.welcome.resume],
    ['a ticket', 'RESUME_INVALID', ticket],
  ];
  await pod.kill();
  await pod.start();

  await refused(bad, room);
  const { recovering, roster } = await ada.resume(pod.url, 'Ada');
  assert.equal(recovering, true);
  assert.deepEqual(
    roster.map(({ name }) => name),
    ['Ada'],
  );
  const mark = ada.log.length;
  await refused(bad, room);
  // The next message that she receives answers this, and no message came before it.
  ada.sendMessage({ type: 'ping' });
  await ada.waitFor('pong', { since: mark });
  assert.deepEqual(
    ada.log.slice(mark).map(({ type }) => type),
    ['pong'],
  );
  ada.drop();
});

async function refused(bad: readonly (readonly [string, Code, string])[], room: string): Promise<void> {
  for (const [what, code, token] of bad) {
    const eve = new Client(room);
    eve.generation = 1;
    await eve.connect(pod.url);
    eve.sendResume('Eve', token);
    assert.equal((await eve.refusedWith()).code, code, what);
  }
}
