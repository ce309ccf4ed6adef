/** Live broadcasts between moq-cli, browsers and the `parley` command, through the real edge and real media relays. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { makeVideo, Terminal } from '@parley/local/terminal';
import { publish, watch } from '../../support/live.ts';
import { publishByMoqCli, watchByMoqCli, WAYS } from '../../support/moq-cli.ts';
import { opened } from '../../support/opened.ts';
import { withSite } from '../../support/site.ts';

describe('a live broadcast and moq-cli', { timeout: 300_000 }, () => {
  const site = withSite();
  const dir = opened(async (keep) => {
    const path = await mkdtemp(join(tmpdir(), 'parley-stock-'));
    keep({ close: () => rm(path, { recursive: true, force: true }) });
    return path;
  });
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  for (const way of WAYS) {
    const name = (what: string): string => `${what}-${way.replace(' ', '-')}`;

    it(`[MED-11] publishes over ${way}: a browser shows and plays it, the terminal and moq-cli receive it`, async (t) => {
      const options = { web: site.web, name: name('film'), way };
      const publishes = await publishByMoqCli(makeVideo(join(dir(), 'film.mp4')), options);
      t.after(() => publishes.close());
      const watcher = await watch(site.browser, options);
      await watcher.seesMotion();
      await watcher.playsSound();
      const watches = Terminal.start(['watch', `${site.web}/live/${options.name}`, '--log']);
      t.after(() => watches.child.kill('SIGKILL'));
      // Tracks are named by the client: 0.avc3, and one of sound.
      const isVideo = (line: string): boolean => line.includes('avc3"');
      await watches.line('stdout', isVideo);
      await watches.line('stdout', (line) => line.includes('"track"') && !isVideo(line));
      const frames = await watchByMoqCli(join(dir(), `${options.name}.mkv`), options);
      assert.ok(frames.video > 10 && frames.audio > 10, JSON.stringify(frames));
    });

    it(`[MED-11] watches over ${way} what a browser publishes`, async () => {
      const options = { web: site.web, name: name('camera'), way };
      await publish(site.browser, options);
      const frames = await watchByMoqCli(join(dir(), `${options.name}.mkv`), options);
      assert.ok(frames.video > 10 && frames.audio > 10, JSON.stringify(frames));
    });
  }
});
