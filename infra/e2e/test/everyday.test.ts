/** What people do in a call every day, with two browsers. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { newProfile } from '../support/browsers.ts';
import { switchMicrophone } from '../support/controls.ts';
import { record, recordedBy } from '../support/recorded.ts';
import { withSite } from '../support/site.ts';
import { until } from '../support/until.ts';
import { newRoom, Visitor } from '../support/visitor.ts';

const WITHIN_MS = 15_000;
/** The part of the application that has the panels and dialogs of a call. */
const PANELS = /\/assets\/opened-[^/]*\.js$/;

describe('a call of two', { timeout: 180_000 }, () => {
  const site = withSite();
  let ada: Visitor;
  let bo: Visitor;

  before(async () => {
    const room = newRoom();
    const profile = await newProfile(site.browser, site.web);
    await profile.grantPermissions(['camera', 'microphone', 'screen-wake-lock']);
    await profile.addInitScript(hum);
    await profile.addInitScript(record);
    ada = new Visitor('Ada', await profile.newPage());
    await ada.enter(`${site.web}/r/${room}`);
    bo = await Visitor.join(site.browser, { name: 'Bo', web: site.web, room });
    await Promise.all([ada.receivesMedia(1), bo.receivesMedia(1)]);
  });

  const recorded = () => recordedBy(ada.page);
  /** Resolves when this device is the last one of its kind that Ada's page opened. */
  const opensDevice = (kind: string, id: string): Promise<void> =>
    until(
      () =>
        ada.page.evaluate(
          ([of, wanted]) => {
            const { parleyTracks } = globalThis as unknown as {
              parleyTracks: Map<MediaStreamTrack, unknown>;
            };
            const last = [...parleyTracks.keys()].findLast((track) => track.kind === of);
            return last?.getSettings().deviceId === wanted;
          },
          [kind, id] as const,
        ),
      { withinMs: WITHIN_MS, what: () => `the ${kind} device ${id}` },
    );
  const large = ({ page }: Visitor) => page.locator('[data-testid=tile][data-large=true]');

  it('shows the other participant in the whole stage, uncropped, in full screen, and in a window of its own', async () => {
    const { page } = ada;
    const stage = await page.getByTestId('stage').boundingBox();
    assert.deepEqual(await large(ada).boundingBox(), stage);
    const video = large(ada).locator('video');
    assert.equal(await video.evaluate((element) => getComputedStyle(element).objectFit), 'contain');
    await large(ada).hover();
    await large(ada).getByTestId('full').click();
    await page.locator('[data-large=true]:fullscreen').waitFor({ timeout: WITHIN_MS });
    await large(ada).getByRole('button', { name: 'Leave full screen' }).click();
    await page.locator('[data-large=true]:not(:fullscreen)').waitFor({ timeout: WITHIN_MS });
    const floats = (is: boolean): Promise<void> =>
      until(() => page.evaluate((wanted) => (document.pictureInPictureElement !== null) === wanted, is), {
        withinMs: WITHIN_MS,
        what: () => (is ? 'a window for the picture' : 'the picture to come back'),
      });
    await large(ada).hover();
    await large(ada).getByTestId('float').click();
    await floats(true);
    await large(ada).getByTestId('float').click();
    await floats(false);
  });

  it('has a small self view that moves by dragging and by its button, and is hidden also after a reload', async () => {
    const { page } = ada;
    const self = page.getByTestId('self-view');
    const at = (corner: string) =>
      page.locator(`[data-testid=self-view][data-corner=${corner}]`).waitFor({ timeout: WITHIN_MS });
    await at('bottom-right');
    await self.dragTo(large(ada), { targetPosition: { x: 90, y: 120 } });
    await at('top-left');
    await self.hover();
    await self.getByTestId('move-self').click();
    await at('top-right');
    await self.getByTestId('hide-self').click();
    await self.waitFor({ state: 'detached' });
    await page.reload();
    await page.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: 30_000 });
    await large(ada).waitFor({ timeout: WITHIN_MS });
    assert.equal(await self.count(), 0);
    await bo.receivesMedia(1);
    await page.getByTestId('show-self').click();
    await at('top-right');
  });

  it('plays the other participant as loudly as the listener chooses, also after a reload', async () => {
    const { page } = ada;
    const volume = () => page.getByTestId('voice').evaluate((audio) => (audio as HTMLAudioElement).volume);
    assert.equal(await volume(), 1);
    await page.getByTestId('control-people').click();
    await page.getByTestId('volume-button').click();
    await page.getByTestId('volume').press('Home');
    await until(async () => (await volume()) === 0, { withinMs: WITHIN_MS, what: () => 'silence' });
    await page.getByTestId('volume').press('ArrowRight');
    await until(async () => (await volume()) === 0.05, { withinMs: WITHIN_MS, what: () => 'one step' });
    await page.getByTestId('control-people').click();
    assert.equal(await volume(), 0.05, 'it stays when the list is closed');
    await page.reload();
    await large(ada).waitFor({ timeout: WITHIN_MS });
    await until(async () => (await volume()) === 0.05, {
      withinMs: WITHIN_MS,
      what: () => 'the same after a reload',
    });
  });

  it('still shows the other participant to the one who shares a screen', async () => {
    const { page } = ada;
    await page.getByTestId('control-screen').click();
    await page.getByTestId('own-screen').waitFor({ timeout: WITHIN_MS });
    assert.ok(await large(ada).locator('video').isVisible());
    await bo.page.getByTestId('screen').waitFor({ timeout: 30_000 });
    await page.getByTestId('stop-sharing').click();
    await bo.page.getByTestId('screen').waitFor({ state: 'detached', timeout: WITHIN_MS });
  });

  it('tells a user who speaks while muted, also after a reload, and unmutes while space is held', async () => {
    const { page } = ada;
    const look = (state: string) =>
      page.locator(`[data-testid=control-microphone][data-look=${state}]`).waitFor({ timeout: WITHIN_MS });
    const muted = large(bo).getByTestId('muted');
    await switchMicrophone(ada, 'off');
    await page.getByTestId('muted-hint').waitFor({ timeout: WITHIN_MS });
    await muted.waitFor({ timeout: WITHIN_MS });
    await page.reload();
    await look('off');
    await page.getByTestId('muted-hint').waitFor({ timeout: WITHIN_MS });
    await page.keyboard.down(' ');
    await look('plain');
    await page.getByTestId('muted-hint').waitFor({ state: 'detached', timeout: WITHIN_MS });
    await muted.waitFor({ state: 'detached', timeout: WITHIN_MS });
    await page.keyboard.up(' ');
    await muted.waitFor({ timeout: WITHIN_MS });
    await look('off');
    // A user of the keyboard presses the button with the same key.
    await page.keyboard.press('Tab');
    await page.getByTestId('control-microphone').press(' ');
    await look('plain');
    await muted.waitFor({ state: 'detached', timeout: WITHIN_MS });
  });

  it('plays a sound and shows a notification for a chat line, each until it is switched off, also after a reload', async () => {
    const { page } = ada;
    const settings = async (sound: boolean) => {
      await page.getByTestId('open-settings').click();
      await page.getByTestId('alert-chat-sound').setChecked(sound);
      await page.getByTestId('alert-chat-notification').check();
      await page.keyboard.press('Escape');
      await page.getByTestId('settings-dialog').waitFor({ state: 'detached' });
    };
    const soundsOf = async (line: string): Promise<number> => {
      const { tones } = await recorded();
      await bo.sendChat(line);
      await page.getByTestId('notice').filter({ hasText: line }).waitFor({ timeout: WITHIN_MS });
      return (await recorded()).tones - tones;
    };
    await page.evaluate(() => void (document.hasFocus = () => false));
    // First without: a sound soon after another one is left out.
    await settings(false);
    assert.equal(await soundsOf('one'), 0);
    await settings(true);
    assert.equal(await soundsOf('two'), 1);
    assert.deepEqual((await recorded()).notifications, ['Bo: one', 'Bo: two']);
    await settings(false);
    await page.reload();
    await page.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: 30_000 });
    await page.getByTestId('open-settings').click();
    assert.equal(await page.getByTestId('alert-chat-sound').isChecked(), false);
    assert.equal(await page.getByTestId('alert-knock-sound').isChecked(), true);
    assert.equal(await page.getByTestId('alert-chat-notification').isChecked(), true);
    await page.keyboard.press('Escape');
  });

  it('has the devices beside the button of the microphone, a test of the speaker, and keeps the screen on', async () => {
    const { page } = ada;
    await page.getByTestId('devices-microphone').click();
    const menu = page.getByTestId('device-menu-microphone');
    const choices = await menu.getByTestId('pick-microphone').locator('option').count();
    assert.ok(choices > 1);
    const microphones = menu.getByTestId('pick-microphone');
    await microphones.selectOption({ index: choices - 1 });
    await opensDevice('audio', await microphones.inputValue());
    await menu.getByTestId('test-speaker').click();
    const played = menu.locator('[data-testid=speaker-tested][data-state=played]');
    await played.waitFor({ timeout: WITHIN_MS });
    const speaker = menu.getByTestId('pick-speaker');
    await speaker.selectOption({ index: (await speaker.locator('option').count()) - 1 });
    const speakers = async () => (await recorded()).speakers;
    await until(async () => (await speakers()).length > 0, { withinMs: WITHIN_MS, what: () => 'a choice' });
    const voices = (await speakers()).length;
    await menu.getByTestId('test-speaker').click();
    await until(async () => (await speakers()).length > voices, {
      withinMs: WITHIN_MS,
      what: () => 'a test',
    });
    await played.waitFor({ timeout: WITHIN_MS });
    assert.equal((await speakers()).at(-1), await speaker.inputValue());
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    assert.equal(
      await page.evaluate(() => document.activeElement?.getAttribute('data-testid')),
      'devices-microphone',
    );
    await page.getByTestId('devices-camera').click();
    const cameras = page.getByTestId('device-menu-camera').getByTestId('pick-camera');
    const camera = await cameras.locator('option').last().getAttribute('value');
    await cameras.selectOption(camera);
    await opensDevice('video', camera ?? '');
    await page.keyboard.press('Escape');
    await bo.receivesMedia(1);
    assert.equal((await recorded()).heldLocks, 1);
  });

  it('asks before a link gets a key, and still says of the other, who has the old link, that they are connected directly', async () => {
    const { page } = ada;
    const key = () => new URL(page.url()).hash;
    await page.getByTestId('open-path').click();
    const dialog = page.getByTestId('path-dialog');
    await dialog.getByTestId('make-media-key').click();
    await dialog.getByText('Send the new link to the other participant').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    assert.equal(key(), '');
    await dialog.getByTestId('make-media-key').click();
    await dialog.getByTestId('make-media-key-confirm').click();
    await dialog.getByTestId('has-media-key').waitFor();
    assert.match(key(), /^#key=[\w-]{22}$/);
    await page.keyboard.press('Escape');
    await ada.receivesMedia(1);
    for (const one of [ada, bo]) {
      assert.equal(await large(one).getAttribute('data-path'), 'direct');
      await large(one).getByTestId('tile-link').click();
      await one.page.getByTestId('link-dialog').getByText('encrypted on the way between you').waitFor();
      await one.page.keyboard.press('Escape');
    }
  });

  it('takes one mute and unmute after the other without an error, and a page that is left meanwhile', async () => {
    const { page } = ada;
    for (let press = 0; press < 10; press += 1) await page.keyboard.press('m');
    await bo.receivesMedia(1);
    for (let press = 0; press < 3; press += 1) await page.keyboard.press('m');
    await page.getByTestId('control-leave').click();
    await page.getByTestId('ended-left').waitFor({ timeout: WITHIN_MS });
    assert.equal((await recorded()).heldLocks, 0, 'the screen may turn off again');
    assert.deepEqual([ada.errors, ada.lines], [[], []]);
    await page.getByTestId('next-rejoin').click();
    await page.getByTestId('join').click();
    await page.locator('[data-testid=call][data-status=connected]').waitFor({ timeout: 30_000 });
    await bo.receivesMedia(1, 0);
  });

  it('shows advice whole where the browser refuses the camera', async () => {
    const { page } = ada;
    await page.evaluate(() => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'));
    });
    await page.getByTestId('control-camera').click();
    await page.locator('[data-testid=control-camera][data-look=off]').waitFor({ timeout: WITHIN_MS });
    await page.getByTestId('control-camera').click();
    const notice = page.getByTestId('notice').filter({ hasText: 'privacy settings' });
    await notice.waitFor({ timeout: WITHIN_MS });
    const text = (await notice.textContent()) ?? '';
    assert.ok(text.length > 160 && !text.includes('…'), text);
    assert.deepEqual([ada.lines, bo.lines], [[], []]);
    await Promise.all([ada.leave(), bo.leave()]);
  });

  it('names in the settings what the browser lacks, where it lacks something', async () => {
    const profile = await newProfile(site.browser, site.web);
    const cy = new Visitor('Cy', await profile.newPage());
    const { page } = cy;
    const lacks = page.getByTestId('browser-lacks');
    const openSettings = async (): Promise<void> => {
      await cy.enter(`${site.web}/r/${newRoom()}`);
      await page.getByTestId('open-settings').click();
      await page.getByTestId('alerts').waitFor({ timeout: WITHIN_MS });
    };
    await openSettings();
    assert.equal(await lacks.count(), 0);
    await page.addInitScript(() => {
      Reflect.deleteProperty(Navigator.prototype, 'wakeLock');
      Reflect.deleteProperty(MediaDevices.prototype, 'getDisplayMedia');
      Object.defineProperty(document, 'pictureInPictureEnabled', { value: undefined });
    });
    await openSettings();
    assert.equal(
      await lacks.textContent(),
      'In this browser Parley cannot share a screen, keep the screen on, or show a picture in a window of its own.',
    );
    await profile.close();
  });

  it('can close a panel whose code does not come, and shows it after a reload in the same call', async () => {
    const profile = await newProfile(site.browser, site.web);
    const cy = new Visitor('Cy', await profile.newPage());
    const { page } = cy;
    const chat = page.getByTestId('control-chat');
    const waits = page.getByTestId('opening');
    const connected = page.locator('[data-testid=call][data-status=connected]');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.route(PANELS, () => undefined);
    await cy.enter(`${site.web}/r/${newRoom()}`);
    await chat.click();
    await waits.waitFor({ timeout: WITHIN_MS });
    await page.keyboard.press('Escape');
    await waits.waitFor({ state: 'detached', timeout: WITHIN_MS });
    await switchMicrophone(cy, 'off');
    const participant = await cy.participant();
    await page.unroute(PANELS);
    await page.route(PANELS, (route) => route.abort());
    await page.reload();
    await connected.waitFor({ timeout: 30_000 });
    await chat.click();
    const reload = waits.getByRole('button', { name: 'Reload' });
    await reload.waitFor({ timeout: WITHIN_MS });
    await page.unroute(PANELS);
    await reload.click();
    await connected.waitFor({ timeout: 30_000 });
    await chat.click();
    await page.getByTestId('chat-panel').waitFor({ timeout: WITHIN_MS });
    assert.equal(await cy.participant(), participant);
    await profile.close();
  });
});

/** Gives a microphone that is never quiet. Runs in the page. */
function hum(): void {
  const devices = globalThis.navigator.mediaDevices as MediaDevices | undefined;
  if (!devices) return;
  const real = devices.getUserMedia.bind(devices);
  devices.getUserMedia = async (asked = {}) => {
    const stream = await real(asked);
    for (const microphone of stream.getAudioTracks()) {
      const context = new AudioContext();
      const loud = context.createMediaStreamDestination();
      const tone = context.createOscillator();
      tone.connect(loud);
      tone.start();
      stream.removeTrack(microphone);
      for (const track of loud.stream.getAudioTracks()) stream.addTrack(track);
    }
    return stream;
  };
}
