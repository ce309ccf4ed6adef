/** Live broadcasts between browsers and the `parley` command, through the real edge and real media relays. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { makeVideo, Terminal } from '@parley/local/terminal';
import { publish, watch } from '../support/live.ts';
import { withSite } from '../support/site.ts';

describe('a live broadcast and the terminal', { timeout: 240_000 }, () => {
  const site = withSite();

  it('a browser shows and plays a video that the terminal publishes', async (t) => {
    const dir = await mkdtemp(join(tmpdir(), 'parley-video-'));
    t.after(() => rm(dir, { recursive: true, force: true }));
    const video = makeVideo(join(dir, 'video.mp4'));
    const publishes = Terminal.start(['publish', `${site.web}/live/film`, video, '--loop']);
    t.after(() => publishes.child.kill('SIGKILL'));
    const watcher = await watch(site.browser, { web: site.web, name: 'film' });
    await watcher.seesMotion();
    await watcher.playsSound();
  });

  it('the terminal receives a broadcast of a browser', async (t) => {
    await publish(site.browser, { web: site.web, name: 'camera' });
    const watches = Terminal.start(['watch', `${site.web}/live/camera`, '--log']);
    t.after(() => watches.child.kill('SIGKILL'));
    for (const kind of ['video', 'audio']) await watches.line('stdout', (line) => line.includes(kind));
  });
});
