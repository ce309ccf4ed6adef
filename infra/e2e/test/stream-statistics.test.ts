/** The page `/stats` of a relay, in Chromium. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import type { WebSocket } from 'ws';
import { openSocket } from '../support/senders.ts';
import { withSite } from '../support/site.ts';
import { assertTakesAtMost } from '../support/stalls.ts';
import { until } from '../support/until.ts';

/** The page requests a push every second, and a push of the same second may be shared (STR-61). */
const SHOWN_WITHIN_MS = 2500;
const HANG_MS = 15_000;
const SEND_EVERY_MS = 100;
const MESSAGE_BYTES = 1000;
/** A rate is measured over a second or two: a tenth of a message more or less, and what a timer is late. */
const TOLERANCE = 0.3;

describe('the statistics page of a relay', { timeout: 120_000 }, () => {
  const site = withSite();
  const sockets: WebSocket[] = [];
  let sending: NodeJS.Timeout | undefined;
  afterEach(async () => {
    clearInterval(sending);
    for (const socket of sockets.splice(0)) socket.terminate();
    await Promise.all(site.browser.contexts().map((profile) => profile.close()));
  });

  const connect = async (path: string): Promise<WebSocket> => {
    const relay = site.stack.endpoints.relays[0] ?? '';
    const socket = await openSocket(`${relay.replace('http', 'ws')}${path}`);
    sockets.push(socket);
    return socket;
  };

  it('[STR-62] shows the clients and rates of a publisher and two readers, and their end', async () => {
    const page = await (await site.browser.newContext()).newPage();
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    await page.goto(`${site.stack.endpoints.relays[0]}/stats`);
    await shows(page, { sockets: '0', topics: '0' });
    assert.ok(await page.locator('#none').isVisible());

    const [reader, other] = [await connect('/out/lab/figures'), await connect('/out/lab/figures')];
    const publisher = await connect('/in/lab/figures');
    await assertTakesAtMost(SHOWN_WITHIN_MS, 'the clients', () => shows(page, { sockets: '3', topics: '1' }));
    assert.deepEqual(await page.locator('#topics h2').allTextContents(), ['/out/lab/figures']);
    const clients = await page.locator('#topics tbody tr td:first-child').allTextContents();
    assert.deepEqual(
      clients.map((text) => text.split(' ')[0]),
      ['out', 'out', 'in'],
    );
    assert.ok(!(await page.locator('#none').isVisible()));

    sending = setInterval(() => publisher.send(Buffer.alloc(MESSAGE_BYTES)), SEND_EVERY_MS);
    const rate = 1000 / SEND_EVERY_MS;
    await rates(page, {
      deliveries: 2 * rate,
      in: rate * MESSAGE_BYTES * 8,
      out: 2 * rate * MESSAGE_BYTES * 8,
    });
    await flows(page, 'in', 'sends', rate);
    await flows(page, 'out', 'receives', rate);
    assert.deepEqual([await cellOf(page, 'in', 'receives'), await cellOf(page, 'out', 'sends')], ['–', '–']);

    other.close();
    await assertTakesAtMost(SHOWN_WITHIN_MS, 'the end of a reader', () => shows(page, { sockets: '2' }));
    await rates(page, { deliveries: rate, out: rate * MESSAGE_BYTES * 8 });
    clearInterval(sending);
    await rates(page, { deliveries: 0, in: 0, out: 0 });
    for (const socket of [publisher, reader]) socket.close();
    await assertTakesAtMost(SHOWN_WITHIN_MS, 'the end of all', () =>
      shows(page, { sockets: '0', topics: '0' }),
    );
    assert.ok(await page.locator('#none').isVisible());
    assert.equal(await page.locator('#topics article').count(), 0);
    assert.deepEqual(faults, []);
  });
});

const tile = (page: Page, name: string) =>
  page.locator(`#tile-${name} output`).textContent({ timeout: HANG_MS });

const cellOf = (page: Page, role: 'in' | 'out', column: 'sends' | 'receives') =>
  page
    .locator('#topics tr')
    .filter({ hasText: new RegExp(`^${role} `) })
    .first()
    .locator(`[data-name=${column}]`)
    .textContent();

/** Resolves when the tiles have exactly these texts. */
async function shows(page: Page, tiles: Readonly<Record<string, string>>): Promise<void> {
  const expected = JSON.stringify(tiles);
  let shown = '';
  const read = async (): Promise<string> => {
    const texts: Record<string, string | null> = {};
    for (const name of Object.keys(tiles)) texts[name] = await tile(page, name);
    return JSON.stringify(texts);
  };
  await until(async () => (shown = await read()) === expected, {
    withinMs: HANG_MS,
    everyMs: 50,
    what: () => `the page to show ${expected}: it shows ${shown}`,
  });
}

/** Resolves when the tiles show these rates, within the tolerance. */
async function rates(page: Page, tiles: Readonly<Record<string, number>>): Promise<void> {
  const shown: Record<string, string | null> = {};
  await until(
    async () => {
      for (const name of Object.keys(tiles)) shown[name] = await tile(page, name);
      return Object.entries(tiles).every(([name, value]) => isNear(rateOf(shown[name] ?? ''), value));
    },
    {
      withinMs: HANG_MS,
      everyMs: 50,
      what: () => `the rates ${JSON.stringify(tiles)}: shown are ${JSON.stringify(shown)}`,
    },
  );
}

/** Resolves when the client of this role sends or receives so many messages a second. The rate is an average, which rises for some seconds. */
async function flows(
  page: Page,
  role: 'in' | 'out',
  column: 'sends' | 'receives',
  rate: number,
): Promise<void> {
  const flow = new RegExp(`^(\\d+\\.\\d)/s × ${MESSAGE_BYTES} B$`);
  let shown: string | null = '';
  await until(
    async () => {
      shown = await cellOf(page, role, column);
      return isNear(Number(flow.exec(shown ?? '')?.[1]), rate);
    },
    {
      withinMs: HANG_MS,
      everyMs: 50,
      what: () => `${rate} messages a second in ${column}: shown is ${shown}`,
    },
  );
}

/** `12/s`, `80 kbit/s` or `1.2 Mbit/s`, per second. */
function rateOf(text: string): number {
  const [, number, unit = ''] = /^([\d.]+)(?: ([kM])bit)?\/s$/.exec(text) ?? [];
  return Number(number) * ({ k: 1e3, M: 1e6 }[unit] ?? 1);
}

const isNear = (value: number, expected: number): boolean =>
  expected === 0 ? value === 0 : Math.abs(value - expected) <= TOLERANCE * expected;
