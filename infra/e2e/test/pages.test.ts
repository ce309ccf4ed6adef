import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { Terminal } from '@parley/local/terminal';
import { addressOf, Reader, text } from '../support/reader.ts';
import { countInMemory } from '../support/process-memory.ts';
import { withSite, type TestSite } from '../support/site.ts';
import { assertTakesAtMost } from '../support/stalls.ts';

/** SPEC rule PAGE-8. */
const EXACT_WITHIN_MS = 2000;

describe('a page lives in the browsers that have it open', { timeout: 300_000 }, () => {
  const site = withSite();
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  it('[PAGE-1] [PAGE-6] [PAGE-8] a page goes from A to B and from B to C across two pods and is gone with the last holder; no process of the servers had any of it in memory', async () => {
    const { browser, web, stack } = site;
    const marks = [randomBytes(24).toString('hex'), randomBytes(24).toString('hex')];
    const content = marks.map((mark) => `${mark} `.repeat(1000)).join('\n');
    const ada = await Reader.open(browser, { name: 'Ada', web, affinity: 'a' });
    const link = await ada.make(web, text(content));
    const bo = await openOnOtherPod(site, 'Bo');
    const cy = await Reader.open(browser, { name: 'Cy', web, affinity: 'a' });
    await bo.read(link);
    await bo.reaches('here');
    assert.equal(await bo.text(), content);
    await assertTakesAtMost(EXACT_WITHIN_MS, 'the count of two', () =>
      Promise.all([ada.showsHolders(2), bo.showsHolders(2)]),
    );
    await ada.close();
    await assertTakesAtMost(EXACT_WITHIN_MS, 'the count after one left', () => bo.showsHolders(1));
    await bo.isLast();
    await cy.read(link);
    await cy.reaches('here');
    assert.equal(await cy.text(), content);
    assert.deepEqual(await visitorsOf(stack.endpoints.pods), [1, 1]);

    // The search also finds something that is there: the address, which pods know.
    const wanted = [...marks, addressOf(link)].map((one) => Buffer.from(one));
    const processes = Object.entries(stack.endpoints.processes);
    const remains = processes.map(([name, { pid }]) => [name, countInMemory(pid, wanted)] as const);
    for (const [name, [first = -1, second = -1]] of remains)
      assert.deepEqual([first, second], [0, 0], `${name} has of the page: ${JSON.stringify(remains)}`);
    const knows = remains.filter(([name]) => name.startsWith('signaling'));
    assert.ok(
      knows.every(([, counts]) => (counts[2] ?? 0) > 0),
      `the search finds nothing at all: ${JSON.stringify(remains)}`,
    );

    await bo.close();
    await cy.close();
    const dee = await Reader.open(browser, { name: 'Dee', web });
    await dee.read(link);
    await dee.reaches('gone');
  });

  it('[PAGE-4] a sealed page is read with the whole link, held without its key, and unreadable on the way', async () => {
    const { browser, web } = site;
    const ada = await Reader.open(browser, { name: 'Ada', web });
    const link = await ada.make(web, text('between us'), true);
    assert.match(link, /#key=[\w-]{22}$/);
    const bo = await Reader.open(browser, { name: 'Bo', web });
    await bo.read(link.replace(/#.*/, ''));
    await bo.reaches('here');
    await ada.showsHolders(2);
    await ada.close();
    const cy = await Reader.open(browser, { name: 'Cy', web });
    await cy.read(link);
    await cy.reaches('here');
    assert.equal(await cy.text(), 'between us');
    assert.doesNotMatch((await bo.page.locator('body').textContent()) ?? '', /between us/);
  });

  it('a terminal holds a page that no browser has open, makes one, and fetches one', async (t) => {
    const { browser, web } = site;
    const ada = await Reader.open(browser, { name: 'Ada', web });
    const link = await ada.make(web, text('left to a terminal'), true);
    const holds = Terminal.start(['page', 'hold', link.replace(/#.*/, '')]);
    t.after(() => holds.child.kill('SIGKILL'));
    await ada.showsHolders(2);
    await ada.close();
    const bo = await Reader.open(browser, { name: 'Bo', web });
    await bo.read(link);
    await bo.reaches('here');
    assert.equal(await bo.text(), 'left to a terminal');

    const dir = await mkdtemp(join(tmpdir(), 'parley-page-'));
    t.after(() => rm(dir, { recursive: true, force: true }));
    await writeFile(join(dir, 'notes.txt'), 'from a terminal');
    const makes = Terminal.start(['page', 'make', join(dir, 'notes.txt'), '--host', web]);
    t.after(() => makes.child.kill('SIGKILL'));
    const made = await makes.line('stdout', (line) => line.startsWith(web));
    await bo.read(made);
    await bo.reaches('here');
    assert.equal(await bo.text(), 'from a terminal');
    assert.equal(await makes.interrupt(), 0);
    const gets = Terminal.start(['page', 'get', made]);
    t.after(() => gets.child.kill('SIGKILL'));
    assert.equal(await gets.line('stdout'), 'from a terminal');
    assert.equal(await gets.ends(), 0);
  });

  it('[PAGE-2] 100 MB are refused at once, without effect on others', async () => {
    const { browser, web } = site;
    const ada = await Reader.open(browser, { name: 'Ada', web });
    await ada.page.goto(`${web}/p`);
    await ada.page.getByTestId('page-file').waitFor({ state: 'attached' });
    const sent: number[] = [];
    ada.page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sent.push(payload.length)));
    await ada.page.evaluate(() => {
      const input = document.querySelector<HTMLInputElement>('[data-testid=page-file]');
      const files = new DataTransfer();
      files.items.add(new File([new Uint8Array(100_000_000)], 'film.mp4', { type: 'video/mp4' }));
      if (input === null) return;
      input.files = files.files;
      input.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await ada.page.getByTestId('page-refused').waitFor({ timeout: 3000 });
    assert.match((await ada.page.getByTestId('page-refused').textContent()) ?? '', /16 MiB/);
    assert.ok(Math.max(0, ...sent) < 4096);
  });
});

/** Opens /p on another pod than all visitors so far, which are on one. The edge hashes by the affinity cookie, so one of several values leads to another pod. */
async function openOnOtherPod({ browser, web, stack }: TestSite, name: string): Promise<Reader> {
  for (const affinity of ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']) {
    const reader = await Reader.open(browser, { name, web, affinity });
    await reader.page.goto(`${web}/p`);
    await reader.page.locator('[data-testid=page-create][data-connection=open]').waitFor();
    if ((await visitorsOf(stack.endpoints.pods)).every((count) => count > 0)) return reader;
    await reader.close();
  }
  throw new Error('every affinity led to the same pod');
}

const visitorsOf = (pods: readonly string[]): Promise<number[]> =>
  Promise.all(pods.map((pod) => metric(pod, 'parley_visitors')));

/** One figure of a pod's Prometheus page. */
async function metric(pod: string, name: string): Promise<number> {
  const text = await (await fetch(`${pod}/metrics`)).text();
  const found = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)$`, 'm').exec(text)?.[1];
  assert.ok(found !== undefined, `${pod} has no ${name}`);
  return Number(found);
}
