/** The built page of a stream in Chromium, with a scripted relay. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, Page, WebSocketRoute } from 'playwright-core';
import { build } from 'vite';
import { createSite } from '../../server/site.ts';
import { launch } from '../browser.ts';

let browser: Browser;
let site: ReturnType<typeof createSite>;
let url: string;
let outDir: string;

before(async () => {
  outDir = await mkdtemp(join(tmpdir(), 'parley-streams-'));
  const root = fileURLToPath(new URL('../..', import.meta.url));
  await build({ root, logLevel: 'error', build: { outDir, emptyOutDir: true } });
  site = createSite({ root: outDir, frameAncestors: [], connect: [] });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  browser = await launch();
});
after(async () => {
  await browser.close();
  site.close();
  site.closeAllConnections();
  await rm(outDir, { recursive: true, force: true });
});

interface Visit {
  readonly page: Page;
  /** The address of every socket the page opened. */
  readonly sockets: readonly string[];
}

/** `answer` acts as the relay: it receives each socket and the number of previous ones. */
async function visit(
  path: string,
  answer: (socket: WebSocketRoute, earlier: number) => void,
): Promise<Visit> {
  const page = await (await browser.newContext()).newPage();
  const sockets: string[] = [];
  await page.routeWebSocket(/\/streams\//, (socket) => {
    sockets.push(socket.url().replace(/^ws:\/\/[^/]+/, ''));
    answer(socket, sockets.length - 1);
  });
  await page.goto(url + path);
  return { page, sockets };
}

const closes = (code: number, reason: string) => (socket: WebSocketRoute) =>
  void socket.close({ code, reason });

test('[STR-1] the socket has the address of the page', async () => {
  const { page, sockets } = await visit('/streams/out/caf%C3%A9/cam', () => {});
  await page.getByTestId('empty').waitFor();
  assert.deepEqual(sockets, ['/streams/out/caf%C3%A9/cam']);
  await page.context().close();
});

test('[STR-70] after a restart close the page reconnects immediately and shows what arrives', async () => {
  const { page, sockets } = await visit('/streams/lab', (socket, earlier) => {
    if (earlier === 0) setTimeout(closes(1012, 'GOAWAY'), 300, socket);
    else setTimeout(() => socket.send('still here'), 200);
  });
  await page.getByTestId('line').filter({ hasText: 'still here' }).waitFor();
  assert.equal(sockets.length, 2);
  await page.locator('[data-figure=reconnects][data-value="1"]').waitFor();
  await page.context().close();
});

test('a permanent refusal is shown and not retried until the user retries', async () => {
  const { page, sockets } = await visit('/streams/lab', closes(1008, 'ORIGIN_DENIED'));
  await page.getByTestId('trouble').filter({ hasText: 'not allowed at this address' }).waitFor();
  await page.locator('[data-link=stopped]').waitFor();
  assert.equal(sockets.length, 1);
  await page.getByTestId('retry').click();
  await page.locator('[data-link=stopped]').waitFor();
  assert.equal(sockets.length, 2);
  await page.context().close();
});

test('the page retries a full server automatically, after a delay that it shows', async () => {
  let full = true;
  const { page, sockets } = await visit('/streams/lab', (socket) => {
    if (full) closes(4504, 'POD_FULL')(socket);
  });
  await page.getByTestId('trouble').filter({ hasText: 'The server is busy' }).waitFor();
  full = false;
  await page.getByTestId('empty').waitFor();
  assert.ok(sockets.length >= 2, `${sockets.length} sockets`);
  await page.context().close();
});

interface Codes {
  readonly asked: (string | null)[];
  answer: { readonly status: number; readonly json: object };
}

async function withCodes(page: Page): Promise<Codes> {
  const codes: Codes = { asked: [], answer: { status: 201, json: { code: 'one-use', expiresIn: 30 } } };
  await page.route('**/streams/v1/codes/**', async (route) => {
    const { pathname } = new URL(route.request().url());
    codes.asked.push(
      `${route.request().method()} ${pathname} ${await route.request().headerValue('authorization')}`,
    );
    await route.fulfill(codes.answer);
  });
  return codes;
}

test('[STR-26] the page asks for a token, exchanges it for a code of one socket, keeps it through a reload and never sends it in an address', async () => {
  const { page, sockets } = await visit('/streams/out/secret', (socket) => {
    if (!socket.url().includes('code=')) closes(1008, 'TOKEN_REQUIRED')(socket);
  });
  const codes = await withCodes(page);
  await page.getByTestId('token').fill(' a.b.c ');
  await page.getByTestId('use-token').click();
  await page.getByTestId('empty').waitFor();
  const asked = 'POST /streams/v1/codes/out/secret Bearer a.b.c';
  assert.deepEqual(codes.asked, [asked]);
  assert.deepEqual(sockets, ['/streams/out/secret', '/streams/out/secret?code=one-use']);
  await page.reload();
  await page.getByTestId('empty').waitFor();
  assert.deepEqual(codes.asked, [asked, asked], 'a code is good once: the next socket asks for its own');
  assert.equal(sockets.length, 3);
  assert.equal(await page.evaluate(() => location.hash), '#token=a.b.c');
  await page.context().close();
});

test('[STR-26] the page states why a token is refused, and accepts another one', async () => {
  const { page, sockets } = await visit('/streams/out/secret', closes(1008, 'TOKEN_REQUIRED'));
  const codes = await withCodes(page);
  codes.answer = { status: 403, json: { code: 'TOKEN_INSUFFICIENT_SCOPE' } };
  await page.getByTestId('token').fill('a.b.c');
  await page.getByTestId('use-token').click();
  await page.getByTestId('trouble').filter({ hasText: 'Your token is for something else' }).waitFor();
  assert.equal(sockets.length, 1, 'without a code there is no socket');
  await page.getByTestId('token').waitFor();
  await page.context().close();
});

test('[STR-26] a code in the link is used for the first socket only', async () => {
  const { page, sockets } = await visit('/streams/cam?code=abc', (socket, earlier) => {
    if (earlier === 0) setTimeout(closes(1012, 'GOAWAY'), 200, socket);
  });
  await page.locator('[data-figure=reconnects][data-value="1"]').waitFor();
  assert.deepEqual(sockets, ['/streams/cam?code=abc', '/streams/cam']);
  await page.context().close();
});

test('the address for sending leads to the one for watching', async () => {
  const { page } = await visit('/streams/in/cam', () => {});
  await page.getByRole('link', { name: 'Watch out/cam' }).click();
  await page.waitForURL('**/streams/out/cam');
  await page.getByTestId('empty').filter({ hasText: 'Waiting for a sender' }).waitFor();
  await page.context().close();
});

test('the log pauses for reading and continues from there; hidden figures stay hidden', async () => {
  let relay: WebSocketRoute | undefined;
  const { page } = await visit('/streams/lab', (socket) => (relay = socket));
  await page.getByTestId('empty').waitFor();
  relay?.send('one');
  await page.getByTestId('line').filter({ hasText: 'one' }).waitFor();
  await page.getByTestId('pause').click();
  relay?.send('two');
  await page.getByText('1 more since you paused').waitFor();
  assert.equal(await page.getByTestId('line').count(), 1);
  await page.getByTestId('pause').click();
  await page.getByTestId('line').filter({ hasText: 'two' }).waitFor();

  await page.getByTestId('toggle-figures').click();
  await page.getByTestId('figures').waitFor({ state: 'detached' });
  await page.reload();
  await page.getByTestId('toggle-figures').waitFor();
  assert.equal(await page.getByTestId('figures').count(), 0);
  await page.context().close();
});
