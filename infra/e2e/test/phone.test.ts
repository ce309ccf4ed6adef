/** A call on a phone, as Chromium emulates it. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { devices, type Page } from 'playwright-core';
import { colorsOf } from '../support/colors.ts';
import { withSite } from '../support/site.ts';
import { until } from '../support/until.ts';
import { newRoom, Visitor } from '../support/visitor.ts';

const WITHIN_MS = 20_000;
/** Of a channel of a color. */
const DISTINCT = 60;

describe('a call on a phone', { timeout: 120_000 }, () => {
  const site = withSite();
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  for (const device of ['Pixel 7', 'iPhone 14'] as const)
    it(`${device}: the screen control is disabled, explains itself, and never asks for a screen`, async () => {
      const profile = await site.browser.newContext({
        ...devices[device],
        permissions: ['camera', 'microphone'],
      });
      const page = await profile.newPage();
      await page.addInitScript(countScreenRequests);
      const visitor = new Visitor('Ada', page);
      await visitor.enter(`${site.web}/r/${newRoom()}`);
      const control = page.getByTestId('control-screen');
      assert.equal(await control.getAttribute('aria-disabled'), 'true');
      await control.click({ force: true });
      await page.getByTestId('notice').filter({ hasText: 'cannot share its screen' }).waitFor();
      await page.keyboard.press('s');
      assert.equal(await screenRequests(page), 0);
      assert.equal(await page.getByTestId('own-screen').count(), 0);
      await visitor.leave();
    });

  it('a phone flips between its two cameras, and the other participant sees that of the chosen side', async () => {
    const room = newRoom();
    const profile = await site.browser.newContext({
      ...devices['Pixel 7'],
      permissions: ['camera', 'microphone'],
    });
    await profile.addInitScript(haveTwoCameras);
    const ada = new Visitor('Ada', await profile.newPage());
    await ada.enter(`${site.web}/r/${room}`);
    const bo = await Visitor.join(site.browser, { name: 'Bo', web: site.web, room });
    const mirror = ada.page.locator('[data-testid=self-view] video.mirrored');
    await sees(bo, 'front');
    assert.equal(await mirror.count(), 1);
    await ada.page.getByTestId('self-view').tap();
    await ada.page.getByTestId('flip-camera').tap();
    await sees(bo, 'back');
    // What its user sees is no mirror.
    await mirror.waitFor({ state: 'detached', timeout: WITHIN_MS });
    await ada.page.getByTestId('flip-camera').tap();
    await sees(bo, 'front');
    assert.deepEqual([ada.errors, ada.lines], [[], []]);
    await Promise.all([ada.leave(), bo.leave()]);
  });

  it('a computer shares its screen', async () => {
    const profile = await site.browser.newContext({ permissions: ['camera', 'microphone'] });
    const page = await profile.newPage();
    await page.addInitScript(countScreenRequests);
    const visitor = new Visitor('Ada', page);
    await visitor.enter(`${site.web}/r/${newRoom()}`);
    assert.notEqual(await page.getByTestId('control-screen').getAttribute('aria-disabled'), 'true');
    await page.getByTestId('control-screen').click();
    await page.getByTestId('own-screen').waitFor();
    assert.equal(await screenRequests(page), 1);
    await visitor.leave();
  });
});

/** Resolves when the page shows the one camera of the phone: it is red at the front and blue at the back. */
function sees(viewer: Visitor, side: 'front' | 'back'): Promise<void> {
  return until(
    async () => {
      const [color] = (await colorsOf(viewer)).values();
      const [red = 0, , blue = 0] = color ?? [];
      return side === 'front' ? red > blue + DISTINCT : blue > red + DISTINCT;
    },
    { withinMs: WITHIN_MS, what: () => `${viewer.name} to see the ${side} camera` },
  );
}

/** Emulated phones have no cameras of two sides. Runs in the page. */
function haveTwoCameras(): void {
  const { mediaDevices } = globalThis.navigator;
  const real = mediaDevices.getUserMedia.bind(mediaDevices);
  const open = (side: string): MediaStreamTrack[] => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [320, 180];
    const context = canvas.getContext('2d');
    const draw = (): void => {
      if (context === null) return;
      context.fillStyle = side === 'user' ? '#c00' : '#00c';
      context.fillRect(0, 0, canvas.width, canvas.height);
    };
    draw();
    setInterval(draw, 100);
    const tracks = canvas.captureStream(10).getVideoTracks();
    for (const track of tracks) track.getSettings = () => ({ facingMode: side, width: 320, height: 180 });
    return tracks;
  };
  mediaDevices.getUserMedia = async ({ audio, video } = {}) => {
    const side = typeof video === 'object' && video.facingMode === 'environment' ? 'environment' : 'user';
    const sounds = audio ? (await real({ audio })).getTracks() : [];
    return new MediaStream([...sounds, ...(video ? open(side) : [])]);
  };
  mediaDevices.enumerateDevices = () =>
    Promise.resolve(
      ['user', 'environment'].map((deviceId): MediaDeviceInfo => ({
        kind: 'videoinput',
        deviceId,
        label: deviceId,
        groupId: '',
        toJSON: () => deviceId,
      })),
    );
}

/** Chromium on a computer has getDisplayMedia also when it emulates a phone, as Chrome for Android does. Runs in the page. */
function countScreenRequests(): void {
  const media = navigator.mediaDevices as MediaDevices | undefined;
  if (!media) return;
  const real = media.getDisplayMedia.bind(media);
  Object.assign(globalThis, { parleyScreenRequests: 0 });
  media.getDisplayMedia = (options) => {
    const scope = globalThis as unknown as { parleyScreenRequests: number };
    scope.parleyScreenRequests += 1;
    return real(options);
  };
}

function screenRequests(page: Page): Promise<number> {
  return page.evaluate(
    () => (globalThis as unknown as { parleyScreenRequests: number }).parleyScreenRequests,
  );
}
