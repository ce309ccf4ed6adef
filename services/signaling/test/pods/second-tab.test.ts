/** Two tabs that are one participant, on real pods: the later one has the place, the earlier one stops, and that is the end of it. */
import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { CODES } from '@parley/protocol/codes';
import { eventually } from '../support/deadline.ts';
import { startNats, type TestNats } from '../support/nats.ts';
import { randomRoom, writeKeys } from '../support/pod.ts';
import { startPodProcess, type PodProcess } from './support/pod-process.ts';
import { ResumingClient } from './support/resuming-client.ts';

/** Ten times the first wait of a client that comes back. */
const QUIET_MS = 5000;

const keys = writeKeys();
const pods: PodProcess[] = [];
let nats: TestNats;
before(async () => {
  nats = await startNats();
  for (const name of ['one', 'two'])
    pods.push(await startPodProcess({ name, nats: nats.url, keysFile: keys.file }));
});
after(async () => {
  for (const pod of pods) await pod.kill();
  await nats.close();
  keys.remove();
});

describe('a duplicated tab', () => {
  for (const [title, tabOn, secondTabOn] of [
    ['on the same pod', 0, 0],
    ['on another pod', 0, 1],
  ] as const)
    test(`[RES-5] ${title}: the first is replaced once and stops for good, and the others saw neither left nor joined`, (t) =>
      duplicate(t, addressOf(tabOn), addressOf(secondTabOn)));
});

function addressOf(at: number): string {
  const pod = pods[at];
  assert.ok(pod);
  return pod.url;
}

async function duplicate(t: TestContext, tabOn: string, secondTabOn: string): Promise<void> {
  const room = randomRoom();
  const urls = pods.map(({ url }) => url);
  const ada = await ResumingClient.enter({ room, name: 'Ada', pods: urls });
  const tab = await ResumingClient.enter({ room, name: 'Bob', pods: [tabOn, ...urls] });
  t.after(() => [ada, tab].forEach((one) => one.close()));
  await eventually('Ada sees Bob', () => ada.roster.has(tab.participant));
  const mark = ada.log.length;
  const arrived = await arrivals();

  const secondTab = tab.duplicate([secondTabOn, ...urls]);
  t.after(() => secondTab.close());
  await eventually('the secondTab is in', () => secondTab.isIn && secondTab.welcomes === 1);
  await eventually('the tab has stopped', () => tab.stopped !== undefined);
  await pause(QUIET_MS);

  assert.equal(tab.stopped, CODES.REPLACED.close);
  assert.equal(secondTab.stopped, undefined);
  assert.equal(secondTab.participant, tab.participant);
  assert.deepEqual([tab.attempts, secondTab.attempts], [1, 1], 'each opened one socket');
  assert.equal(await arrivals(), arrived + 1, 'the pods admit one resume');
  const news = new Set(ada.log.slice(mark).map(({ type }) => type));
  assert.ok(!news.has('left') && !news.has('joined'), [...news].join());
  assert.equal(ada.roster.get(secondTab.participant), 'here');
}

/** The number of arrivals, as the pods count it. */
async function arrivals(): Promise<number> {
  const pages = await Promise.all(pods.map(({ url }) => fetch(`${url}/metrics`).then((page) => page.text())));
  return pages
    .flatMap((page) => [...page.matchAll(/^parley_arrivals_total\{.*\} (\d+)$/gm)])
    .reduce((sum, [, count]) => sum + Number(count), 0);
}
