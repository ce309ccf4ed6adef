/** The page at `/streams/<topic>` in Firefox, with codecs that browsers cannot decode, and while a stream and its relay have gaps. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { launchFirefox } from '../../support/puppets.ts';
import { sendPicture, type ENCODERS, type Sender } from '../../support/senders.ts';
import { withSite } from '../../support/site.ts';
import { pictureMoves, readPicture, Viewer } from '../../support/viewer.ts';

describe('the page of a stream', { timeout: 240_000 }, () => {
  const site = withSite();
  let sender: Sender | undefined;
  afterEach(async () => {
    await sender?.close();
    sender = undefined;
    await Promise.all(site.browser.contexts().map((profile) => profile.close()));
  });

  const page = (topic: string): string => `${site.web}/streams/${topic}`;
  const socket = (topic: string): string => `${site.stack.endpoints.streams}/${topic}`;
  const send = async (topic: string, encoder: keyof typeof ENCODERS): Promise<void> => {
    sender = await sendPicture(socket(topic), encoder);
  };

  it('plays H.264 in Firefox', async () => {
    const firefox = await launchFirefox();
    try {
      await send('in/firefox', 'h264');
      const tab = await firefox.newPage();
      await tab.goto(page('out/firefox'));
      await pictureMoves(() => tab.evaluate(readPicture));
      await tab.close();
    } finally {
      await firefox.close();
    }
  });

  it('plays only the picture if browsers cannot decode the sound, and shows why', async () => {
    await send('in/mp2', 'h264WithMp2');
    const viewer = await Viewer.open(site.browser, page('out/mp2'));
    await viewer.seesMotion();
    assert.match((await viewer.page.getByTestId('play-note').textContent()) ?? '', /MP2.*-c:a aac/);
    await viewer.close();
  });

  for (const encoder of ['mpeg1', 'mpeg2'] as const)
    it(`refuses ${encoder} video, and names the codec to send instead`, async () => {
      await send(`in/${encoder}`, encoder);
      const viewer = await Viewer.open(site.browser, page(`out/${encoder}`));
      await viewer.page.getByTestId('unplayable').waitFor();
      assert.match(
        (await viewer.page.getByTestId('unplayable').textContent()) ?? '',
        /MPEG-1 or MPEG-2.*Send H\.264.*libx264/,
      );
      await viewer.figureIs('bits', 100_000, 3_000_000);
      await viewer.close();
    });

  it('[STR-40] continues at the live edge after a part of the stream was lost, and counts the loss', async () => {
    await send('in/lossy', 'h264');
    const viewer = await Viewer.open(site.browser, page('out/lossy'));
    await viewer.seesMotion();
    // Shorter and longer than the gap that restarts the player.
    for (const lostMs of [1500, 6000]) {
      sender?.lose(true);
      await new Promise((resolve) => setTimeout(resolve, lostMs));
      sender?.lose(false);
      await viewer.figureIs('lag', 0, 2);
      await viewer.seesMotion();
    }
    await viewer.figureIs('gaps', 1, 10_000);
    await viewer.close();
  });

  it('[STR-70] reconnects when its relay ends, and when it is killed', async () => {
    await send('in/back', 'h264');
    const viewer = await Viewer.open(site.browser, page('out/back'));
    await viewer.seesMotion();
    for (const relay of ['relay-1', 'relay-2']) await site.stack.restart(relay);
    await viewer.figureIs('reconnects', 1, 10);
    await viewer.seesMotion();
    const before = Number(await viewer.figure('reconnects'));
    for (const relay of ['relay-1', 'relay-2']) {
      site.stack.kill(relay, 'SIGKILL');
      await site.stack.restart(relay);
    }
    await viewer.figureIs('reconnects', before + 1, before + 20);
    await viewer.seesMotion();
    await viewer.close();
  });
});
