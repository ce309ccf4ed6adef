import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../support/browsers.ts';
import { startSite, type TestSite } from '../support/site.ts';
import { until } from '../support/until.ts';
import { newRoom, Visitor } from '../support/visitor.ts';

describe('a call survives its pod', { timeout: 180_000 }, () => {
  let site: TestSite;
  let browser: Browser;

  before(async () => {
    site = await startSite();
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    await site?.close();
  });

  it('[P2] kill -9 of the only pod of a room: media goes on, both are back as the same people, nobody saw anybody leave', async () => {
    const room = newRoom();
    const ada = await Visitor.join(browser, { name: 'Ada', web: site.web, room });
    const bo = await Visitor.join(browser, { name: 'Bo', web: site.web, room });
    const people = [ada, bo];
    await Promise.all(people.map((person) => person.seesAndHears(1)));
    const pod = await ada.pod();
    assert.equal(await bo.pod(), pod, 'the edge brings a room to one pod');
    const before = await Promise.all(people.map((person) => person.participant()));
    await ada.say('said before');
    await bo.readsInChat('said before');
    await Promise.all(people.map((person) => person.watchTiles()));

    const killedAt = Date.now();
    site.stack.kill(pod, 'SIGKILL');
    await Promise.all(people.map((person) => person.isBackOnAnotherPod(pod)));
    const backAfterMs = Date.now() - killedAt;

    assert.ok(backAfterMs < 5000, `back after ${backAfterMs} ms`);
    assert.deepEqual(await Promise.all(people.map((person) => person.participant())), before);
    await Promise.all(people.map((person) => person.seesAndHears(1)));
    for (const person of people) {
      assert.equal(await person.tilesGone(), 0, `${person.name} never saw a tile go`);
      assert.ok(
        (await person.longestFreezeMs()) < 1000,
        `${person.name} saw a still picture for ${await person.longestFreezeMs()} ms`,
      );
    }
    await bo.say('said after');
    await ada.readsInChat('said after');
    await ada.readsInChat('said before');
    await Promise.all(people.map((person) => person.leave()));
  });

  it('[P6] [JOIN-14] NATS is gone: the call goes on, and somebody joins it through the edge', async () => {
    await site.stack.restart('signaling-1');
    const room = newRoom();
    const ada = await Visitor.join(browser, { name: 'Ada', web: site.web, room });
    const bo = await Visitor.join(browser, { name: 'Bo', web: site.web, room });
    await Promise.all([ada.seesAndHears(1), bo.seesAndHears(1)]);
    site.stack.kill('nats', 'SIGKILL');
    await podsAreNotReady(site.stack.endpoints.pods);
    const cy = await Visitor.join(browser, { name: 'Cy', web: site.web, room });
    await Promise.all([ada, bo, cy].map((person) => person.seesAndHears(2)));
    await site.stack.restart('nats');
    await Promise.all([ada, bo, cy].map((person) => person.leave()));
  });
});

/** Pods without their bus say so within seconds. */
async function podsAreNotReady(pods: readonly string[]): Promise<void> {
  await until(
    async () => {
      const answers = await Promise.all(
        pods.map((pod) => fetch(`${pod}/readyz`).then(({ status }) => status)),
      );
      return answers.every((status) => status === 503);
    },
    { withinMs: 15_000, what: () => 'every pod to be without its bus' },
  );
}
