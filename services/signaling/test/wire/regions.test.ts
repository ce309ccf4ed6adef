/** The list of regions: how it is configured, and where clients get it. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { decode } from '@parley/protocol/decode';
import { MAX_REGIONS, RegionList, type ErrorAnswer } from '@parley/protocol/http';
import { readConfig, type Config } from '../../src/server/config.ts';
import type { RunningPod } from '../../src/server/start.ts';
import { Client, join } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { from, randomRoom, startTestPod, writeKeys, type TestPodOptions } from '../support/pod.ts';

const EU = { name: 'eu', url: 'https://eu.example.com' };
const US = { name: 'us', url: 'https://us.example.com:8443' };
const TWO = { region: 'eu', regions: [EU, US] };

function configured(context: TestContext, env: Record<string, string>): Config {
  const keys = writeKeys();
  context.after(() => keys.remove());
  const needed = { PARLEY_POD: 'pod-a', PARLEY_NATS_URL: 'memory', PARLEY_KEYS_FILE: keys.file };
  return readConfig({ ...needed, PARLEY_REGION: 'eu', ...env });
}

async function podOf(context: TestContext, options: TestPodOptions): Promise<RunningPod> {
  const pod = await startTestPod(options);
  context.after(() => pod.close());
  return pod;
}

async function listed(response: Response): Promise<RegionList> {
  assert.equal(response.status, 200);
  const decoded = decode(RegionList, await response.json());
  assert.ok(decoded.ok);
  return decoded.message;
}

test('[REG-7] PARLEY_REGIONS names all regions, whose pages are allowed; without it there is one', (context) => {
  const text = 'eu=https://eu.example.com/, us=https://us.example.com:8443';
  const { regions, allowedOrigins } = configured(context, {
    PARLEY_REGIONS: text,
    PARLEY_ALLOWED_ORIGINS: 'https://a.example',
  });
  assert.deepEqual(regions, [EU, US]);
  assert.deepEqual(allowedOrigins, ['https://a.example', EU.url, US.url]);
  assert.deepEqual(configured(context, {}).regions, []);
});

const many = Array.from({ length: MAX_REGIONS + 1 }, (_, at) => `r${at}=https://r${at}.example.com`);
for (const [title, text, reason] of [
  ['the own region is missing', 'us=https://us.example.com', /eu, is not in the list/],
  ['a name is there twice', 'eu=https://a.example.com,eu=https://b.example.com', /two regions have one name/],
  [
    'an address is there twice',
    'eu=https://a.example.com,us=https://a.example.com',
    /two regions have one address/,
  ],
  ['an address is one of a socket', 'eu=wss://eu.example.com', /eu=wss:\/\/eu.example.com is no name=origin/],
  ['an address has a path', 'eu=https://eu.example.com/v1', /is no name=origin/],
  ['an address is no origin as browsers write it', 'eu=https://EU.example.com', /is no name=origin/],
  ['a name is none of a region', 'EU=https://eu.example.com', /is no name=origin/],
  ['a name is missing', 'https://eu.example.com', /is no name=origin/],
  ['there are too many', ['eu=https://eu.example.com', ...many].join(), /34 regions, of at most 32/],
] as const)
  test(`[REG-7] PARLEY_REGIONS is refused: ${title}`, (context) => {
    assert.throws(() => configured(context, { PARLEY_REGIONS: text }), reason);
    assert.throws(() => configured(context, { PARLEY_REGIONS: text }), /configuration: PARLEY_REGIONS/);
  });

test('[REG-7] the list is in the answer to a join, in the welcome and in that of GET /v1/regions', async (context) => {
  const pod = await podOf(context, { config: { region: 'eu', regions: TWO.regions } });
  assert.deepEqual(await listed(await fetch(`${pod.url}/v1/regions`)), TWO);
  const room = randomRoom();
  const joined = await join(pod.url, room);
  assert.deepEqual(joined.ok && joined.answer.regions, TWO);
  const ada = await Client.enter(pod.url, room);
  context.after(() => ada.drop());
  assert.deepEqual(ada.welcome.regions, TWO);
});

test('[REG-7] an installation with one region sends no list but for GET /v1/regions, which has its own address', async (context) => {
  const pod = await podOf(context, {});
  assert.deepEqual(await listed(await fetch(`${pod.url}/v1/regions`)), {
    region: 'local',
    regions: [{ name: 'local', url: pod.url }],
  });
  const room = randomRoom();
  const joined = await join(pod.url, room);
  assert.ok(joined.ok && !('regions' in joined.answer));
  const ada = await Client.enter(pod.url, room);
  context.after(() => ada.drop());
  assert.ok(!('regions' in ada.welcome));
});

test('[REG-7] [LIM-16] pages of other regions may read the list, and no cache answers for a region', async (context) => {
  const config = { region: 'eu', regions: TWO.regions, allowedOrigins: [EU.url, US.url] };
  const pod = await podOf(context, { config });
  const ask = (origin: string): Promise<Response> => fetch(`${pod.url}/v1/regions`, { headers: { origin } });
  const answer = await ask(US.url);
  assert.equal(answer.headers.get('access-control-allow-origin'), US.url);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  assert.equal(answer.headers.get('vary'), 'origin');
  assert.equal((await ask('https://elsewhere.example')).status, 403);
});

test('[LIM-14] the list has the rate of reads (address.reads)', async (context) => {
  const pod = await podOf(context, { limits: { 'address.reads': 2 }, config: { trustedProxies: 1 } });
  const ask = (address: string): Promise<Response> =>
    fetch(`${pod.url}/v1/regions`, { headers: from(address) });
  for (const status of [200, 200, 429]) assert.equal((await ask('203.0.113.1')).status, status);
  assert.equal((await ask('203.0.113.2')).status, 200);
});

test('[REG-7] a region of the list that was never heard is one from which nothing arrives', async (context) => {
  const pod = await podOf(context, { config: { region: 'eu', regions: TWO.regions } });
  const metrics = await (await fetch(`${pod.url}/metrics`)).text();
  assert.match(metrics, /^parley_region_peers\{peer_region="us"\} 0$/m);
});

test('[REG-7] [LIM-1] a pod that is full answers no list', async (context) => {
  const pod = await podOf(context, { limits: { 'pod.sockets': 1 } });
  const ada = await Client.enter(pod.url, randomRoom());
  context.after(() => ada.drop());
  const refused = await fetch(`${pod.url}/v1/regions`);
  assert.equal(((await refused.json()) as ErrorAnswer).code, 'POD_FULL');
});

test('[REG-7] [JOIN-14] a pod that drains answers no list: clients take its region for one that accepts none', async (context) => {
  const pod = await podOf(context, { limits: { 'drain.window': 2000 } });
  const ada = await Client.enter(pod.url, randomRoom());
  context.after(() => ada.drop());
  const drained = pod.drain();
  const refused = await eventually('the pod drains', async () => {
    const answer = await fetch(`${pod.url}/v1/regions`);
    return answer.status === 503 && answer;
  });
  assert.equal(((await refused.json()) as ErrorAnswer).code, 'NOT_READY');
  ada.leave();
  await drained;
});
