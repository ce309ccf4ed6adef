/** The pages at `/live/<name>`, in real browsers, through the real edge and real media relays. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { publish, watch } from '../support/live.ts';
import { withSite } from '../support/site.ts';

const WITHIN_MS = 30_000;

describe('a live broadcast', { timeout: 240_000 }, () => {
  const site = withSite();
  afterEach(() => Promise.all(site.browser.contexts().map((profile) => profile.close())));

  for (const transport of ['WebTransport', 'WebSocket'] as const)
    it(`goes over ${transport} from camera and microphone to viewers, whose page shows when it begins and ends`, async () => {
      const options = {
        web: site.web,
        name: `talk-${transport}`,
        withoutWebTransport: transport === 'WebSocket',
      };
      const watcher = await watch(site.browser, options);
      await watcher.showsNote('not-started');
      const publisher = await publish(site.browser, options);
      await watcher.seesMotion();
      await watcher.playsSound();
      assert.equal(await publisher.transport(), transport);
      assert.equal(await watcher.transport(), transport);
      await watcher.figureIs('bits', 20_000, 3_000_000);
      await watcher.figureIs('frames', 3, 40);
      await publisher.page.locator('[data-figure=viewers][data-value=yes]').waitFor({ timeout: WITHIN_MS });

      await publisher.stop();
      await watcher.showsNote('gone');
      await publisher.goLive();
      await watcher.seesMotion();
      // A later viewer sees it as well.
      await (await watch(site.browser, options)).seesMotion();
    });
});
