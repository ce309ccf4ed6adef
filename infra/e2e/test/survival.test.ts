import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { composureOf } from '../support/composure.ts';
import { watchMachine } from '../support/machine.ts';
import { withSite } from '../support/site.ts';
import { until } from '../support/until.ts';
import { everybodyReads, joinApartFrom, newRoom, Visitor } from '../support/visitor.ts';

const BACK_WITHIN_MS = 5000;

describe('a call survives its pod', { timeout: 240_000 }, () => {
  const site = withSite();
  // Pages that a failed test left behind would weigh on the next one.
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  it('[P2] [RES-7] [CHAT-4] kill -9 of the only pod of a room: media continues, both resume as the same participants, neither saw the other leave, every line is there once', async (t) => {
    const { browser, web } = site;
    const room = newRoom();
    const ada = await Visitor.join(browser, { name: 'Ada', web, room });
    const bo = await Visitor.join(browser, { name: 'Bo', web, room });
    const people = [ada, bo];
    await Promise.all(people.map((person) => person.seesAndHears(1)));
    const pod = await ada.pod();
    assert.equal(await bo.pod(), pod, 'the edge brings a room to one pod');
    const composure = await composureOf(people);
    await ada.say('said before');
    await bo.readsInChat('said before');
    await bo.say('last words');
    await bo.isTaken('last words');
    await Promise.all(people.map((person) => person.sayOnceCutOff(`${person.name} goes on`)));

    const stoodStill = watchMachine();
    const killedAt = Date.now();
    t.after(() => site.stack.restart(pod));
    site.stack.kill(pod, 'SIGKILL');
    await Promise.all(people.map((person) => person.isBackOnAnotherPod(pod)));
    const backMs = Date.now() - killedAt;
    const still = stoodStill();

    assert.ok(
      backMs < BACK_WITHIN_MS + still,
      `back after ${backMs} ms; the machine stood still ${still} ms`,
    );
    await Promise.all(people.map((person) => person.seesAndHears(1)));
    await bo.say('said after');
    await everybodyReads(people, ['said before', 'last words', 'Ada goes on', 'Bo goes on', 'said after']);
    const interruptions = await composure.assertUndisturbed();
    t.diagnostic(JSON.stringify({ backMs, ...interruptions }));
    await Promise.all(people.map((person) => person.leave()));
  });

  it('[P2] [RES-4] [CHAT-4] kill -9 of the pod of one of three: media continues, it resumes as the same participant, the others keep their sockets, none saw another leave, every line is there once', async (t) => {
    const { browser, web } = site;
    const room = newRoom();
    const ada = await Visitor.join(browser, { name: 'Ada', web, room });
    const bo = await Visitor.join(browser, { name: 'Bo', web, room });
    const cy = await joinApartFrom(ada, site, { name: 'Cy', room });
    const people = [ada, bo, cy];
    const pod = await cy.pod();
    assert.deepEqual([await ada.pod(), await bo.pod()].includes(pod), false, 'Cy is alone on its pod');
    await Promise.all(people.map((person) => person.seesAndHears(2)));
    const composure = await composureOf(people);
    const sockets = [ada, bo].map(({ messages }) => messages.sockets);
    await ada.say('said before');
    await cy.readsInChat('said before');
    await bo.openChat();
    await cy.say('last words');
    await cy.isTaken('last words');

    await cy.sayOnceCutOff('Cy goes on');
    const killedAt = Date.now();
    t.after(() => site.stack.restart(pod));
    site.stack.kill(pod, 'SIGKILL');
    await bo.say('where is Cy?');
    await cy.isBackOnAnotherPod(pod);
    const backMs = Date.now() - killedAt;

    assert.ok(backMs < BACK_WITHIN_MS, `back after ${backMs} ms`);
    await Promise.all(people.map((person) => person.seesAndHears(2)));
    await cy.say('said after');
    const lines = ['said before', 'last words', 'Cy goes on', 'where is Cy?', 'said after'];
    await everybodyReads(people, lines);
    const interruptions = await composure.assertUndisturbed();
    assert.deepEqual(
      [ada, bo].map(({ messages }) => messages.sockets),
      sockets,
      'the others keep their sockets',
    );
    t.diagnostic(JSON.stringify({ backMs, ...interruptions }));
    await Promise.all(people.map((person) => person.leave()));
  });

  it('[P6] [JOIN-14] NATS is gone: the call continues, and another participant joins it through the edge', async () => {
    const { browser, web } = site;
    const room = newRoom();
    const ada = await Visitor.join(browser, { name: 'Ada', web, room });
    const bo = await Visitor.join(browser, { name: 'Bo', web, room });
    await Promise.all([ada.seesAndHears(1), bo.seesAndHears(1)]);
    site.stack.kill('nats', 'SIGKILL');
    await podsAreNotReady(site.stack.endpoints.pods);
    const cy = await Visitor.join(browser, { name: 'Cy', web, room });
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
