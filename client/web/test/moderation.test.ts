/** The actions of an owner and their display to all participants, in Chromium, with a scripted call. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openGallery, type Gallery } from './browser.ts';

let gallery: Gallery;
before(async () => {
  gallery = await openGallery();
});
after(() => gallery.close());

const TOBIAS = 'p0000000000000002';

async function open(state: string, viewport = { width: 1280, height: 800 }): Promise<Page> {
  return gallery.open(await gallery.browser.newContext({ viewport }), state);
}

const asked = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => [...(globalThis.fakeCall?.asked ?? [])]);

const focused = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.getAttribute('data-testid') ?? '');

test('[MOD-1] [MOD-4] an owner requests a mute and removes a participant with the keyboard alone', async () => {
  const page = await open('owner-menu');
  const tobias = page.locator(`[data-participant="${TOBIAS}"][data-testid=person]`);
  await page.getByTestId('person-actions').waitFor();
  assert.equal(await focused(page), 'request-mute', 'an opened menu is ready to be used');
  await page.keyboard.press('Escape');
  await page.getByTestId('person-actions').waitFor({ state: 'detached' });
  assert.equal(await focused(page), 'person-menu', 'a closed menu gives the focus back');
  assert.ok(await page.getByTestId('people-panel').isVisible(), 'and leaves the panel open');

  await page.keyboard.press('Enter');
  await tobias.getByTestId('request-mute').press('Enter');
  await tobias.getByText('Asked to mute').waitFor();
  await tobias.getByTestId('person-menu').press('Enter');
  await page.getByTestId('kick').press('Enter');
  await tobias.waitFor({ state: 'detached' });
  assert.deepEqual((await asked(page)).slice(-2), [`ask ${TOBIAS} to mute`, `kick ${TOBIAS}`]);
  await page.context().close();
});

test('[MOD-16] an owner makes a participant a co-owner and takes it back, and a co-owner is offered neither', async () => {
  const page = await open('owner-co-owner');
  const tobias = page.locator(`[data-participant="${TOBIAS}"][data-testid=person]`);
  await tobias.getByText('Co-owner').waitFor();
  await tobias.getByTestId('person-menu').click();
  await tobias.getByTestId('remove-co-owner').press('Enter');
  await tobias.getByText('Co-owner').waitFor({ state: 'detached' });
  const done = (await asked(page)).slice(-2);
  assert.deepEqual(done, [`make ${TOBIAS} a co-owner`, `remove ${TOBIAS} as co-owner`]);
  await page.context().close();
  const guest = await open('co-owner-menu');
  await guest.getByTestId('kick').waitFor();
  assert.equal(await guest.getByTestId('make-co-owner').count(), 0);
  await guest.context().close();
});

test('[HAND-4] an owner lowers the hands of others in the queue, and a guest only its own', async () => {
  const page = await open('owner-hands');
  const hands = page.getByTestId('hands').getByRole('listitem');
  await hands.filter({ hasText: 'Tobias' }).getByTestId('lower-hand').press('Enter');
  await hands.filter({ hasText: 'Tobias' }).waitFor({ state: 'detached' });
  assert.equal((await asked(page)).at(-1), `lower the hand of ${TOBIAS}`);
  await page.context().close();
  const guest = await open('hands-people');
  assert.equal(await guest.getByTestId('lower-hand').count(), 1);
  await guest.context().close();
});

test('[MOD-4] a muted participant cannot be asked to mute', async () => {
  const page = await open('owner-people');
  const adaeze = page.getByTestId('person').filter({ hasText: 'Adaeze' });
  await adaeze.getByTestId('person-menu').click();
  assert.ok(await adaeze.getByTestId('request-mute').isDisabled());
  await page.context().close();
});

for (const covers of ['device', 'network'] as const)
  test(`[MOD-2] [MOD-8] a ban of the ${covers} says so before it is confirmed`, async () => {
    const page = await open('owner-ban');
    const dialog = page.getByTestId('ban-dialog');
    assert.ok(await dialog.getByTestId('ban-device').isChecked(), 'the lesser ban is chosen');
    await dialog.getByTestId(`ban-${covers}`).check();
    await dialog.getByTestId('ban-confirm').filter({ hasText: covers }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal((await asked(page)).at(-1), `ban ${TOBIAS} ${covers}`);
    await page.context().close();
  });

test('[MOD-2] bans are listed and lifted', async () => {
  const page = await open('owner-people');
  await page.getByTestId('bans').click();
  await page.getByTestId('banned').first().waitFor();
  assert.equal(await page.getByTestId('banned').count(), 2);
  await page.getByTestId('unban').first().click();
  await page.getByTestId('banned').nth(1).waitFor({ state: 'detached' });
  assert.equal((await asked(page)).at(-1), 'unban ban-1');
  await page.context().close();
});

test('[MOD-3] the lock is a switch, and all participants see it in the header of the call', async () => {
  const page = await open('owner-people');
  assert.equal(await page.getByTestId('room-locked').count(), 0);
  const lock = page.getByRole('switch', { name: 'Lock the room' });
  await lock.focus();
  await page.keyboard.press('Space');
  await page.getByTestId('room-locked').waitFor();
  assert.equal((await asked(page)).at(-1), 'change {"locked":true}');
  assert.ok(await lock.isChecked());
  await page.context().close();
});

test('[MOD-5] a waiting newcomer is shown with the panel closed, on a phone too, and can be answered there', async () => {
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    const page = await open('call-lobby-request', viewport);
    await page.locator('[data-testid=badge-people][data-count="1"]').waitFor();
    assert.match(await page.title(), /^\(1\) /);
    await page.getByTestId('lobby-request').getByText('Ines').waitFor();
    await page.getByTestId('lobby-request-admit').click();
    await page.getByTestId('lobby-request').waitFor({ state: 'detached' });
    assert.equal(await page.getByTestId('badge-people').count(), 0);
    assert.match((await asked(page)).at(-1) ?? '', /^admit /);
    assert.equal(await focused(page), 'control-people', 'the focus is not lost with the notice');
    await page.context().close();
  }
});

test('[MOD-5] a waiting newcomer is shown above the chat on a phone', async () => {
  const page = await open('call-lobby-request-chat', { width: 390, height: 844 });
  await page.getByTestId('lobby-request-deny').click();
  await page.getByTestId('lobby-request').waitFor({ state: 'detached' });
  assert.match((await asked(page)).at(-1) ?? '', /^deny /);
  await page.context().close();
});

test('[MOD-5] several waiting newcomers are shown at the top of the people, and can be admitted together', async () => {
  const page = await open('call-lobby-requests');
  await page.getByTestId('lobby-request-see').click();
  await page.getByTestId('waiting-list').waitFor();
  assert.equal(await page.getByTestId('lobby-request').count(), 0, 'not shown twice');
  await page.getByTestId('admit-all').click();
  await page.getByTestId('waiting-list').waitFor({ state: 'detached' });
  assert.equal((await asked(page)).filter((what) => what.startsWith('admit ')).length, 3);
  const yuki = page.getByTestId('person').filter({ hasText: 'Yuki' });
  await yuki.getByTestId('person-menu').click();
  assert.ok(await yuki.getByTestId('kick').isEnabled(), 'who was admitted can be removed');
  await page.context().close();
});

test('[MOD-5] a waiting newcomer sees their own picture, and the lobby changes into the call', async () => {
  const page = await open('lobby-waiting');
  await page.getByTestId('lobby-status').getByText('let you in').waitFor();
  await page.locator('[data-testid=preview] video').waitFor();
  await page.getByTestId('prejoin-microphone').click();
  await page.evaluate(() => globalThis.fakeCall?.show({ connection: { status: 'connected', pod: 'pod-1' } }));
  await page.locator('[data-testid=call][data-status=connected]').waitFor();
  await page.locator('[data-testid=control-microphone][data-look=off]').waitFor();
  await page.context().close();
});

for (const [answer, microphone] of [
  ['yes', 'off'],
  ['no', 'plain'],
] as const)
  test(`[MOD-4] a request to mute answered with ${answer}`, async () => {
    const page = await open('call-mute-requested');
    await page.getByTestId(`mute-${answer}`).click();
    await page.getByTestId('mute-requested').waitFor({ state: 'detached' });
    await page.locator(`[data-testid=control-microphone][data-look=${microphone}]`).waitFor();
    await page.evaluate(() => globalThis.fakeCall?.show({ muteRequests: 2 }));
    if (answer === 'no') await page.getByTestId('mute-requested').waitFor();
    else assert.equal(await page.getByTestId('mute-requested').count(), 0, 'nothing when muted already');
    await page.context().close();
  });

test('a failed command is reported in the panel in which it was given', async () => {
  const page = await open('owner-problem');
  await page.getByTestId('owner-problem').getByText('try again in a moment').waitFor();
  assert.equal(await page.getByTestId('person').count(), 3, 'and no person is removed');
  await page.context().close();
});

test('an owner key that does not belong to the room is reported and can be removed', async () => {
  const page = await open('owner-key-refused');
  assert.equal(await page.getByTestId('person-menu').count(), 0);
  await page.getByTestId('forget-key').click();
  await page.getByTestId('key-refused').waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => localStorage.getItem('parley.owner.book-club@eu')), null);
  await page.context().close();
});

test('[ROOM-6] the owner key can be transferred to another browser, which then stores it', async () => {
  const page = await open('prejoin-guest');
  await page.getByTestId('lobby-ahead').waitFor();
  await page.getByTestId('have-key').click();
  await page.getByTestId('key-input').fill('not it');
  await page.getByTestId('use-key').click();
  await page.getByTestId('use-key-dialog').getByText('owner key is not complete').waitFor();
  const key = 'a2V5LW9mLXRoZS1yb29tLWl0c2VsZg';
  await page.getByTestId('key-input').fill(` ${key} `);
  await page.getByTestId('key-input').press('Enter');
  await page.getByTestId('delete-room').waitFor();
  assert.equal(await page.getByTestId('lobby-ahead').count(), 0, 'owners do not wait');
  assert.equal(await focused(page), 'join');
  assert.equal(await page.evaluate(() => localStorage.getItem('parley.owner.chess-club@eu')), key);
  await page.context().close();
});

test('no page threw an error or violated the security policy', () => {
  assert.deepEqual(gallery.faults, []);
});

test('[MOD-14] an owner mutes one participant and lets it speak, and mutes everyone', async () => {
  const page = await open('owner-menu');
  const tobias = page.locator(`[data-participant="${TOBIAS}"][data-testid=person]`);
  await tobias.getByTestId('mute').click();
  await tobias.getByText('Muted by an owner').waitFor();
  await tobias.getByTestId('person-menu').click();
  assert.equal(await tobias.getByTestId('request-mute').count(), 0, 'there is nothing to ask');
  await tobias.getByTestId('unmute').click();
  await tobias.getByText('Muted by an owner').waitFor({ state: 'detached' });
  await page.getByTestId('switch-muted').check();
  await page.getByText('Muted by an owner').nth(3).waitFor();
  assert.ok(await page.getByTestId('switch-muted').isChecked());
  const expected = [`mute ${TOBIAS}`, `unmute ${TOBIAS}`, 'change {"muted":true}'];
  assert.deepEqual((await asked(page)).slice(-3), expected);
  await page.context().close();
});

test('[MOD-15] a participant that an owner muted is told why its microphone stays off, and when it may speak', async () => {
  const page = await open('call-muted-by-owner');
  const microphone = page.getByTestId('control-microphone');
  await page.locator('[data-testid=control-microphone][aria-disabled=true][data-look=off]').waitFor();
  assert.equal(await microphone.getAttribute('aria-label'), 'Muted by an owner');
  await page.getByTestId('muted-by-owner').waitFor();
  // Playwright waits for a button that is not `aria-disabled`; a user does not.
  await microphone.click({ force: true });
  await page.getByText('when they let you speak').waitFor();
  // The devices were opened by then.
  await page.waitForFunction(() => globalThis.fakeCall?.asked.includes('video on'));
  assert.equal(
    (await asked(page)).findLast((what) => what.startsWith('audio')),
    'audio off',
  );
  await page.evaluate(() => {
    const me = globalThis.fakeCall?.snapshot().me;
    if (me) globalThis.fakeCall?.show({ me: { ...me, muted: false } });
  });
  await page.getByTestId('notice').getByText('You can speak again').waitFor();
  await page.locator('[data-testid=control-microphone][data-look=off]:not([aria-disabled=true])').waitFor();
  await microphone.click();
  await page.locator('[data-testid=control-microphone][data-look=plain]').waitFor();
  await page.context().close();
});

test('[MOD-13] the end of the call for all is asked for first, and a refusal is shown in the question', async () => {
  const page = await open('owner-end-call');
  await page.getByTestId('end-call-dialog').getByText('Cancel').click();
  assert.equal((await asked(page)).includes('end the call'), false);
  await page.getByTestId('end-call').click();
  await page.getByTestId('end-call-confirm').click();
  await page.waitForFunction(() => globalThis.fakeCall?.asked.includes('end the call'));
  await page.context().close();
  const refused = await open('owner-end-call-refused');
  await refused.getByTestId('end-call-problem').getByText('Try again in a moment').waitFor();
  await refused.context().close();
});
