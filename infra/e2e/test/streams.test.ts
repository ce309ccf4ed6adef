/** The page at `/streams/<topic>`, in Chromium, through the real edge and a real relay. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { openSocket, sendPicture, type ENCODERS, type Sender } from '../support/senders.ts';
import { withSite } from '../support/site.ts';
import { Viewer } from '../support/viewer.ts';

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

  it('[STR-2] plays the test picture of ffmpeg in H.264, also for those who come later, with figures that fit', async () => {
    const first = await Viewer.open(site.browser, page('out/h264'));
    await first.is('empty');
    await send('in/h264', 'h264');
    await first.is('live');
    await first.seesMotion();
    const late = await Viewer.open(site.browser, page('out/h264'));
    await late.seesMotion();

    await first.figureIs('frames', 15, 40);
    await first.figureIs('lag', 0, 3);
    await first.figureIs('bits', 100_000, 2_000_000);
    await first.figureIs('messages', 1, 500);
    assert.equal(await first.figure('resolution'), '320x240');
    assert.equal(await first.figure('codecs'), 'H.264 + AAC');
    assert.equal(await first.figure('gaps'), '0');
    await first.page.getByTestId('sound').click();
    await first.page.locator('[data-testid=sound][aria-pressed=true]').waitFor();
    await first.seesMotion();
    await first.page.reload();
    await first.seesMotion();
    await Promise.all([first.close(), late.close()]);
  });

  it('shows a topic of text line by line, markup as text, and stays responsive in a flood', async () => {
    const viewer = await Viewer.open(site.browser, page('lab/thermometers'));
    await viewer.is('empty');
    const publisher = await openSocket(socket('lab/thermometers'));
    const line = viewer.page.getByTestId('line');
    publisher.send('21.5 °C <img src=x onerror="document.title=1"><script>document.title = 2</script>');
    await line.filter({ hasText: '21.5 °C <img src=x' }).waitFor();
    assert.equal(await viewer.page.locator('[data-testid=lines] img').count(), 0);

    // Ten thousand a second for three seconds, and one of the largest messages the relay takes.
    publisher.send('x'.repeat(10 * 1024 * 1024 - 1));
    for (let round = 0; round < 300; round++) {
      for (let one = 0; one < 100; one++) publisher.send(`reading ${round * 100 + one}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    publisher.send('the last one');
    await line.filter({ hasText: 'the last one' }).waitFor();
    assert.ok((await line.count()) <= 200);
    // A busy machine may hold up one frame; a page that is not awake holds up all of them.
    const quickest = await viewer.page.evaluate(async () => {
      const frames: number[] = [];
      while (frames.length < 5) {
        const asked = performance.now();
        await new Promise(requestAnimationFrame);
        frames.push(performance.now() - asked);
      }
      return Math.min(...frames);
    });
    assert.ok(quickest < 1000, `the quickest of five frames came after ${quickest} ms`);
    publisher.close();
    await viewer.close();
  });

  it('shows bytes that are no video as hexadecimal', async () => {
    const viewer = await Viewer.open(site.browser, page('lab/adc'));
    await viewer.is('empty');
    const publisher = await openSocket(socket('lab/adc'));
    publisher.send(Buffer.from([0xde, 0xad, 0xbe, 0xef]));
    await viewer.page.getByTestId('bytes').filter({ hasText: 'de ad be ef' }).waitFor();
    publisher.close();
    await viewer.close();
  });

  it('[STR-5] an address that is no topic shows an error and a form for a topic', async () => {
    const viewer = await Viewer.open(site.browser, page('stats'));
    await viewer.page.getByTestId('topic-problem').filter({ hasText: 'This is not a topic' }).waitFor();
    await viewer.page.getByTestId('topic').fill(' ws://host/streams/out/cam ');
    await viewer.page.getByTestId('watch').click();
    await viewer.page.waitForURL(page('out/cam'));
    await viewer.is('empty');
    await viewer.close();
  });
});
