/** The built application, from the landing page to the end of a call, with a scripted service. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { build } from 'vite';
import { freePort } from '../../../infra/local/src/free-port.ts';
import { launch } from './browser.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
let server: ChildProcess;
let browser: Browser;
let url: string;
let outDir: string;

before(async () => {
  // Not into dist/: a server may be serving it.
  outDir = await mkdtemp(join(tmpdir(), 'parley-built-'));
  await build({ root, logLevel: 'error', build: { outDir, emptyOutDir: true } });
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  server = spawn(process.execPath, ['server.ts'], {
    cwd: root,
    env: { ...process.env, PARLEY_LISTEN: `127.0.0.1:${port}`, PARLEY_WEB_ROOT: outDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (server.stdout) await once(server.stdout, 'data');
  browser = await launch();
});
after(async () => {
  await browser.close();
  server.kill('SIGTERM');
  await rm(outDir, { recursive: true, force: true });
});

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly headers?: Record<string, string>;
}

async function openRoom(refusal: Refusal): Promise<{ readonly page: Page; readonly asked: () => number }> {
  const context = await browser.newContext({ permissions: ['camera', 'microphone'] });
  const page = await context.newPage();
  let asked = 0;
  await page.route('**/v1/**', (route) => {
    asked += 1;
    const { status, code, headers = {} } = refusal;
    return route.fulfill({ status, headers, json: { code, message: 'no' } });
  });
  await page.goto(url);
  await page.getByTestId('new-room').click();
  await page.getByTestId('name-input').fill('Robin');
  await page.getByTestId('join').filter({ hasText: 'camera and mic' }).click();
  return { page, asked: () => asked };
}

test('from the landing page into a full room, which says so and offers a next step', async () => {
  const { page } = await openRoom({ status: 409, code: 'ROOM_FULL' });
  await page.getByTestId('ended-ROOM_FULL').waitFor();
  assert.match(page.url(), /\/r\/[0-9a-z]{4}(?:-[0-9a-z]{4}){3}$/);
  await page.getByTestId('next-retry').waitFor();
  await page.context().close();
});

test('[ROOM-13] the maker of a new call joins with its owner key, which is in no address and stays after a reload', async () => {
  const page = await (await browser.newContext({ permissions: ['camera', 'microphone'] })).newPage();
  const room = { room: 'k7m3-q9xd-w2hn-5tzp@eu', kind: 'named', homeRegion: 'eu', cap: 9, locked: false };
  await page.route('**/v1/rooms', (route) =>
    route.fulfill({ status: 201, json: { room, link: 'unused', ownerKey: 'the-key', idleMs: 1000 } }),
  );
  await page.route(`**/v1/rooms/*`, (route) => route.fulfill({ json: room }));
  await page.route('**/v1/rooms/*/join', (route) =>
    route.fulfill({ status: 409, json: { code: 'ROOM_FULL', message: 'no' } }),
  );
  await page.goto(url);
  await page.getByTestId('new-room').click();
  await page.getByTestId('name-input').fill('Robin');
  assert.equal(page.url(), `${url}/r/${room.room}`);
  for (const visit of ['first', 'reloaded']) {
    if (visit === 'reloaded') await page.reload();
    await page.getByTestId('delete-room').waitFor();
    const joined = page.waitForRequest((request) => request.url().endsWith('/join'));
    await page.getByTestId('join').filter({ hasText: 'camera and mic' }).click();
    assert.equal((await joined).headers()['authorization'], 'Bearer the-key', visit);
    // A reload before the answer would ask again by itself.
    await page.getByTestId('ended-ROOM_FULL').waitFor();
  }
  await page.context().close();
});

test('[ROOM-13] a new call that the service refuses or does not answer opens without an owner', async () => {
  for (const answer of ['refused', 'late'] as const) {
    const page = await (await browser.newContext({ permissions: ['camera', 'microphone'] })).newPage();
    await page.route('**/v1/rooms', (route) =>
      answer === 'late'
        ? undefined
        : route.fulfill({ status: 503, json: { code: 'STORE_UNAVAILABLE', message: 'no' } }),
    );
    await page.goto(url);
    await page.getByTestId('new-room').click();
    await page.getByTestId('name-input').waitFor();
    assert.match(page.url(), /\/r\/[0-9a-z]{4}(?:-[0-9a-z]{4}){3}$/);
    assert.equal(await page.getByTestId('delete-room').count(), 0);
    await page.context().close();
  }
});

test('from the landing page to streams and back, in one document', async () => {
  const page = await browser.newPage();
  await page.goto(url);
  const loads: string[] = [];
  page.on('load', () => loads.push(page.url()));
  await page.getByTestId('to-streams').click();
  await page.getByTestId('page-streams').waitFor();
  assert.equal(page.url(), `${url}/streams`);
  await page.goBack();
  await page.getByTestId('new-room').waitFor();
  assert.deepEqual(loads, []);
  await page.close();
});

test('from the landing page to pages, which show text in the built application', async () => {
  const page = await browser.newPage();
  await page.goto(url);
  await page.getByTestId('to-pages').click();
  await page.getByTestId('page-write').fill('A page that *lives*');
  const shown = page.getByTestId('preview').frameLocator('.content-frame').frameLocator('iframe');
  await shown.locator('em', { hasText: 'lives' }).waitFor();
  await page.close();
});

test('a banned person sees the reason and the devices are released', async () => {
  const { page } = await openRoom({ status: 403, code: 'BANNED' });
  await page.getByTestId('ended-BANNED').waitFor();
  assert.equal(await page.getByTestId('countdown').count(), 0);
  await page.context().close();
});

test('[MOD-8] every join of a browser carries the same random device id, also after a reload', async () => {
  const { page } = await openRoom({ status: 423, code: 'ROOM_LOCKED' });
  const next = () => page.waitForRequest((request) => request.url().endsWith('/join'));
  await page.getByTestId('ended-ROOM_LOCKED').waitFor();
  const devices: unknown[] = [];
  for (const again of ['retry', 'reload', 'retry']) {
    const asked = next();
    if (again === 'retry') await page.getByTestId('next-retry').click();
    else {
      await page.reload();
      await page.getByTestId('join').click();
    }
    const body = (await asked).postDataJSON() as { device?: unknown };
    devices.push(body.device);
    await page.getByTestId('ended-ROOM_LOCKED').waitFor();
  }
  assert.match(String(devices[0]), /^[A-Za-z0-9_-]{16,64}$/);
  assert.equal(new Set(devices).size, 1);
  await page.context().close();
});

test('SIGTERM shuts the server down cleanly', async () => {
  server.kill('SIGTERM');
  const [code] = (await once(server, 'exit')) as [number | null];
  assert.equal(code, 0);
});
