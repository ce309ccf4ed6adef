import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { until } from '@parley/e2e/support/until.ts';
import { writePrivate } from '@parley/local/files';
import { adHocRoomId } from '@parley/protocol/ids';
import { Client, NO_MEDIA, ticketFor } from '../../../../services/signaling/test/support/client.ts';
import { podNumbers, type PodNumber } from '../../src/pods.ts';
import type { RegionName } from '../../src/site.ts';
import { lab, linked } from '../support/lab.ts';

const regions = lab();
const room = adHocRoomId(randomBytes(16));

const pod = (region: RegionName, number: PodNumber = 1): string => regions().pod(region, number);

/** A client at a pod of one region with the ticket of another one. */
async function enterWith(ticketOf: RegionName, at: RegionName, number: PodNumber = 1): Promise<Client> {
  const client = new Client(room);
  const { ticket } = await ticketFor(pod(ticketOf), room);
  await client.connect(pod(at, number));
  client.generation += 1;
  client.sendMessage({
    type: 'enter',
    ticket,
    generation: client.generation,
    name: ticketOf,
    media: NO_MEDIA,
  });
  return client;
}

interface KeySet {
  readonly active: string;
  readonly keys: readonly { readonly kid: string }[];
}

/** Pods read their key set every 10 s (KEY-8). Only guards against a test that hangs. */
const READ_WITHIN_MS = 30_000;

/** Takes the key of a region out of the set of another one; resolves when its pods, which go on, refuse a ticket of that key. */
async function forgetKeyOf(expelled: RegionName, at: RegionName): Promise<void> {
  const read = (region: RegionName): KeySet =>
    JSON.parse(readFileSync(regions().keysFile(region), 'utf8')) as KeySet;
  const [theirs, ours] = [read(expelled), read(at)];
  const keys = ours.keys.filter(({ kid }) => kid !== theirs.active);
  assert.equal(keys.length, ours.keys.length - 1);
  writePrivate(regions().keysFile(at), JSON.stringify({ ...ours, keys }));
  for (const number of podNumbers) {
    const isRefused = async (): Promise<boolean> => {
      const client = await enterWith(expelled, at, number);
      const isWelcome = await client.welcomed().then(
        () => true,
        () => false,
      );
      client.drop();
      return !isWelcome && (await client.refusedWith()).code === 'TICKET_INVALID';
    };
    const what = (): string => `${at}-signaling-${number} to refuse a ticket`;
    await until(isRefused, { withinMs: READ_WITHIN_MS, everyMs: 500, what });
  }
}

test('[KEY-2] [KEY-7] [KEY-8] FAULT=expel: tickets and tokens of each region count in all, and those of one whose key was taken out of the sets do not; no pod restarts, and no socket ends', async () => {
  await linked(regions());
  const [ofEu, ofUs] = [await enterWith('eu', 'us'), await enterWith('us', 'eu')];
  for (const client of [ofEu, ofUs]) await client.welcomed();

  await forgetKeyOf('us', 'eu');
  await forgetKeyOf('us', 'ap');
  const late = await enterWith('us', 'eu');
  assert.equal((await late.refusedWith()).code, 'TICKET_INVALID');
  for (const client of [ofEu, ofUs]) {
    const since = client.log.length;
    client.sendMessage({ type: 'ping' });
    await client.waitFor('pong', { since });
  }
  // Its token is signed by the pod that it entered.
  ofEu.drop();
  await ofEu.connect(pod('eu'));
  ofEu.sendResume();
  assert.equal((await ofEu.refusedWith()).code, 'RESUME_INVALID');

  const [stays, resumes] = [await enterWith('eu', 'ap'), await enterWith('ap', 'eu')];
  for (const client of [stays, resumes]) await client.welcomed();
  const { participant } = resumes;
  resumes.drop();
  await resumes.resume(pod('ap'));
  assert.equal(resumes.participant, participant);
  for (const client of [ofUs, stays, resumes]) client.drop();
});
