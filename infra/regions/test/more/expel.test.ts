import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { adHocRoomId } from '@parley/protocol/ids';
import { Client, NO_MEDIA, ticketFor } from '../../../../services/signaling/test/support/client.ts';
import { eventually } from '../../../../services/signaling/test/support/deadline.ts';
import { podNumbers } from '../../src/pods.ts';
import type { RegionName } from '../../src/site.ts';
import { lab, linked } from '../support/lab.ts';

const regions = lab();
const room = adHocRoomId(randomBytes(16));

const pod = (region: RegionName): string => regions().pod(region, 1);

/** A client in one region with the ticket of another one. */
async function enterWith(ticketOf: RegionName, at: RegionName): Promise<Client> {
  const client = new Client(room);
  const { ticket } = await ticketFor(pod(ticketOf), room);
  await client.connect(pod(at));
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

/** Takes the key of a region out of the set of another one, and starts its pods again. */
async function forgetKeyOf(expelled: RegionName, at: RegionName): Promise<void> {
  const read = (region: RegionName): KeySet =>
    JSON.parse(readFileSync(regions().keysFile(region), 'utf8')) as KeySet;
  const [theirs, ours] = [read(expelled), read(at)];
  const keys = ours.keys.filter(({ kid }) => kid !== theirs.active);
  assert.equal(keys.length, ours.keys.length - 1);
  writeFileSync(regions().keysFile(at), JSON.stringify({ ...ours, keys }));
  for (const number of podNumbers) {
    regions().kill(`${at}-signaling-${number}`, 'SIGKILL');
    const answers = (): Promise<boolean> =>
      fetch(regions().pod(at, number)).then(
        () => true,
        () => false,
      );
    await eventually('the pod has ended', async () => !(await answers()));
  }
  await regions().repair();
}

test('[KEY-2] [KEY-7] FAULT=expel: tickets and tokens of each region count in all, and those of one whose key was taken out of the sets do not', async () => {
  await linked(regions());
  const [ofEu, ofUs] = [await enterWith('eu', 'us'), await enterWith('us', 'eu')];
  for (const client of [ofEu, ofUs]) await client.welcomed();

  await forgetKeyOf('us', 'eu');
  await forgetKeyOf('us', 'ap');
  const late = await enterWith('us', 'eu');
  assert.equal((await late.refusedWith()).code, 'TICKET_INVALID');
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
