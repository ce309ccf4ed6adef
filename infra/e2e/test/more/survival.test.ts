import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { watchForDisturbance } from '../../support/disturbance.ts';
import { withSite } from '../../support/site.ts';
import { assertTakesAtMost } from '../../support/stalls.ts';
import { until } from '../../support/until.ts';
import { assertChat, joinOnOtherPod, newRoom, Visitor } from '../../support/visitor.ts';

/** A participant is `away` for at most this long after its pod ended (SPEC rule ROS-11). */
const BACK_WITHIN_MS = 5000;
/** SPEC rule BUS-5. */
const DETECTED_WITHIN_MS = 5000;

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
    await Promise.all(people.map((person) => person.receivesMedia(1)));
    const pod = await ada.pod();
    assert.equal(await bo.pod(), pod, 'the edge brings a room to one pod');
    const watch = await watchForDisturbance(people);
    await ada.sendChat('a line before');
    await bo.receivesChat('a line before');
    await bo.sendChat('the last line before');
    await bo.isAcknowledged('the last line before');
    await Promise.all(people.map((person) => person.sendWhenDisconnected(`${person.name} continues`)));

    t.after(() => site.stack.restart(pod));
    const backMs = await assertTakesAtMost(BACK_WITHIN_MS, 'the return of both', async () => {
      site.stack.kill(pod, 'SIGKILL');
      await Promise.all(people.map((person) => person.resumesOnOtherPod(pod)));
    });
    await Promise.all(people.map((person) => person.receivesMedia(1)));
    await bo.sendChat('a line after');
    await assertChat(people, [
      'a line before',
      'the last line before',
      'Ada continues',
      'Bo continues',
      'a line after',
    ]);
    const interruptions = await watch.assertUndisturbed();
    t.diagnostic(JSON.stringify({ backMs, ...interruptions }));
    await Promise.all(people.map((person) => person.leave()));
  });

  it('[P2] [RES-4] [CHAT-4] kill -9 of the pod of one of three: media continues, it resumes as the same participant, the others keep their sockets, none saw another leave, every line is there once', async (t) => {
    const { browser, web } = site;
    const room = newRoom();
    const ada = await Visitor.join(browser, { name: 'Ada', web, room });
    const bo = await Visitor.join(browser, { name: 'Bo', web, room });
    const cy = await joinOnOtherPod(ada, site, { name: 'Cy', room });
    const people = [ada, bo, cy];
    const pod = await cy.pod();
    assert.deepEqual([await ada.pod(), await bo.pod()].includes(pod), false, 'Cy is alone on its pod');
    await Promise.all(people.map((person) => person.receivesMedia(2)));
    const watch = await watchForDisturbance(people);
    const sockets = [ada, bo].map(({ messages }) => messages.sockets);
    await ada.sendChat('a line before');
    await cy.receivesChat('a line before');
    await bo.openChat();
    await cy.sendChat('the last line before');
    await cy.isAcknowledged('the last line before');

    await cy.sendWhenDisconnected('Cy continues');
    t.after(() => site.stack.restart(pod));
    const backMs = await assertTakesAtMost(BACK_WITHIN_MS, 'the return of Cy', async () => {
      site.stack.kill(pod, 'SIGKILL');
      await Promise.all([bo.sendChat('where is Cy?'), cy.resumesOnOtherPod(pod)]);
    });
    await Promise.all(people.map((person) => person.receivesMedia(2)));
    await cy.sendChat('a line after');
    const lines = ['a line before', 'the last line before', 'Cy continues', 'where is Cy?', 'a line after'];
    await assertChat(people, lines);
    const interruptions = await watch.assertUndisturbed();
    assert.deepEqual(
      [ada, bo].map(({ messages }) => messages.sockets),
      sockets,
      'the others keep their sockets',
    );
    t.diagnostic(JSON.stringify({ backMs, ...interruptions }));
    await Promise.all(people.map((person) => person.leave()));
  });

  it('[P6] [JOIN-14] NATS ends: the call continues, and another participant joins it through the edge', async () => {
    const { browser, web } = site;
    const room = newRoom();
    const ada = await Visitor.join(browser, { name: 'Ada', web, room });
    const bo = await Visitor.join(browser, { name: 'Bo', web, room });
    await Promise.all([ada.receivesMedia(1), bo.receivesMedia(1)]);
    await assertTakesAtMost(DETECTED_WITHIN_MS, 'the detection of the dead link', async () => {
      site.stack.kill('nats', 'SIGKILL');
      await podsAreNotReady(site.stack.endpoints.pods);
    });
    const cy = await Visitor.join(browser, { name: 'Cy', web, room });
    await Promise.all([ada, bo, cy].map((person) => person.receivesMedia(2)));
    await site.stack.restart('nats');
    await Promise.all([ada, bo, cy].map((person) => person.leave()));
  });
});

/** Resolves when no pod is ready, as without a link to NATS. */
async function podsAreNotReady(pods: readonly string[]): Promise<void> {
  await until(
    async () => {
      const answers = await Promise.all(
        pods.map((pod) => fetch(`${pod}/readyz`).then(({ status }) => status)),
      );
      return answers.every((status) => status === 503);
    },
    { withinMs: 15_000, what: () => 'every pod to be not ready' },
  );
}
