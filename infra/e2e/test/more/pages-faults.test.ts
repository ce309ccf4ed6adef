/** Pages while holders lie and pods end. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import {
  addressOf,
  Reader,
  sendNoChunks,
  sendWrongChunks,
  text,
  type Content,
} from '../../support/reader.ts';
import { withSite } from '../../support/site.ts';
import { until } from '../../support/until.ts';

describe('a page', { timeout: 300_000 }, () => {
  const site = withSite();
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  it('[PAGE-3] [PAGE-16] a page is not shown if all holders send wrong chunks, none, or have none; with one honest holder it is', async (t) => {
    const { browser, web, stack } = site;
    const bytes = randomBytes(2_000_000);
    const data: Content = { type: 'application/octet-stream', name: 'data.bin', bytes };
    const ada = await Reader.open(browser, { name: 'Ada', web });
    const link = await ada.make(web, data);
    const liar = await Reader.open(browser, { name: 'the liar', web, initScript: sendWrongChunks });
    const idler = await Reader.open(browser, { name: 'the idler', web, initScript: sendNoChunks });
    for (const one of [liar, idler]) {
      await one.read(link);
      await one.reaches('here');
    }
    const pretender = await announceWithoutContent(
      addressOf(link),
      stack.endpoints.pods[0] ?? '',
      bytes.length,
    );
    t.after(() => pretender.terminate());
    await ada.showsHolders(4);
    await ada.close();
    const bo = await Reader.open(browser, { name: 'Bo', web });
    await bo.read(link);
    const left = async (): Promise<boolean> => (await bo.counted()).dropped >= 2;
    await until(left, { withinMs: 60_000, what: () => 'Bo to leave the liar and the idler' });
    assert.notEqual((await bo.counted()).state, 'here');

    const eve = await Reader.open(browser, { name: 'Eve', web });
    assert.equal(await eve.make(web, data), link);
    const began = Date.now();
    await bo.reaches('here', 60_000);
    t.diagnostic(`Bo had it ${Date.now() - began} ms after Eve: ${JSON.stringify(await bo.counted())}`);
    assert.ok(bytes.equals(await bo.download()));
  });

  it('[PAGE-12] [PAGE-13] the pods end one after the other: no page is shown as gone, and a new reader finds it', async (t) => {
    const { browser, web, stack } = site;
    const ada = await Reader.open(browser, { name: 'Ada', web });
    const link = await ada.make(web, text('still here'));
    for (const pod of ['signaling-1', 'signaling-2']) {
      t.after(() => stack.restart(pod));
      stack.kill(pod, 'SIGKILL');
      const bo = await Reader.open(browser, { name: `Bo after ${pod}`, web });
      await bo.read(link);
      await bo.reaches('here');
      assert.equal(await bo.text(), 'still here');
      await bo.close();
      await stack.restart(pod);
    }
    assert.equal((await ada.counted()).state, 'here');
    await ada.showsHolders(1);
  });
});

/** Announces the whole page, has none of it and never answers. */
async function announceWithoutContent(page: string, pod: string, bytes: number): Promise<WebSocket> {
  const socket = new WebSocket(`${pod.replace('http', 'ws')}/v1/pages/socket`);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'announce', page, whole: true, bytes }));
  return socket;
}
