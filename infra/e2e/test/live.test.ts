/** The pages at `/live/<name>`, in real browsers, through the real edge and real media relays. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { newProfile } from '../support/browsers.ts';
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

  it('[MED-26] is not published over by another page, except if its user wants that', async () => {
    const options = { web: site.web, name: 'talk-twice' };
    await publish(site.browser, options);
    const watcher = await watch(site.browser, options);
    await watcher.seesMotion();
    const other = await (await newProfile(site.browser, site.web)).newPage();
    await other.goto(`${site.web}/live/${options.name}/publish`);
    await other.getByTestId('go-live').click({ timeout: WITHIN_MS });
    await other.getByText('This name is on air already').waitFor({ timeout: WITHIN_MS });
    await watcher.seesMotion();
    await other.getByTestId('retry').click();
    await other.locator('[data-testid=page-publish][data-link=open]').waitFor({ timeout: WITHIN_MS });
  });
});
