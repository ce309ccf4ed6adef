import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withSite } from '../support/site.ts';
import { joinOnOtherPod, newRoom, Visitor } from '../support/visitor.ts';

describe('a call', { timeout: 240_000 }, () => {
  const site = withSite();
  const room = newRoom();
  const people: Visitor[] = [];

  it('two people on different pods see and hear each other', async () => {
    const ada = await Visitor.join(site.browser, { name: 'Ada', web: site.web, room, affinity: 'a' });
    people.push(ada);
    const bo = await joinOnOtherPod(ada, site, { name: 'Bo', room });
    people.push(bo);
    assert.notEqual(await ada.pod(), await bo.pod());
    await Promise.all([ada.receivesMedia(1), bo.receivesMedia(1)]);
  });

  it('a third joins, and each participant sees and hears two', async () => {
    people.push(await Visitor.join(site.browser, { name: 'Cy', web: site.web, room }));
    await Promise.all(people.map((person) => person.receivesMedia(2)));
  });

  it('a fourth shares its screen: the others see a fourth video', async () => {
    const dee = await Visitor.join(site.browser, { name: 'Dee', web: site.web, room });
    people.push(dee);
    await dee.receivesMedia(3);
    await dee.page.getByTestId('control-screen').click();
    const others = people.filter((person) => person !== dee);
    await Promise.all(others.map((person) => person.page.getByTestId('screen').waitFor({ timeout: 30_000 })));
    await Promise.all(others.map((person) => person.receivesMedia(4, 3)));
  });

  it('a chat line reaches all, on both pods', async () => {
    const [ada] = people;
    assert.ok(ada);
    await ada.sendChat('hello from Ada');
    await Promise.all(people.map((person) => person.receivesChat('hello from Ada')));
  });

  it('a reload is the same participant, and the others never see it leave', async () => {
    const [, bo, cy] = people;
    assert.ok(bo && cy);
    const before = await bo.participant();
    await bo.page.reload();
    await bo.page.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: 30_000 });
    assert.equal(await bo.participant(), before);
    await Promise.all([bo.receivesMedia(3), cy.receivesMedia(3)]);
  });

  it('the tile of a participant that leaves disappears at once', async () => {
    const dee = people.pop();
    assert.ok(dee);
    const left = await dee.participant();
    await dee.page.getByTestId('control-leave').click();
    for (const person of people) {
      await person.page
        .locator(`[data-testid=tile][data-participant="${left}"]`)
        .waitFor({ state: 'detached', timeout: 5000 });
    }
    await dee.leave();
    for (const person of people) await person.leave();
  });
});
