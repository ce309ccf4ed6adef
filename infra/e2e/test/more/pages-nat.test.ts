/** Pages between visitors behind two NATs. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { launchChromium } from '../../support/browsers.ts';
import { startLabSite } from '../../support/lab-site.ts';
import { startNatLab } from '../../support/nat-lab.ts';
import { opened } from '../../support/opened.ts';
import { Reader } from '../../support/reader.ts';
import { until } from '../../support/until.ts';

describe('two visitors that cannot connect directly', { timeout: 300_000 }, () => {
  const street = opened(async (keep) => {
    const lab = keep(startNatLab('symmetric'));
    const site = keep(await startLabSite(lab));
    const args = ['--ignore-certificate-errors'];
    const here = keep(await launchChromium({ executable: lab.chromiumIn('a'), args }));
    const there = keep(await launchChromium({ executable: lab.chromiumIn('b'), args }));
    return { lab, site, here, there };
  });

  it('[PAGE-15] exchange a page through TURN, and through the stream relay where TURN is blocked as well; the page shows it', async () => {
    const { lab, site, here, there } = street();
    const ada = await Reader.open(here, { name: 'Ada', web: site.web });
    const bytes = randomBytes(600_000);
    const link = await ada.make(site.web, { type: 'application/octet-stream', name: 'data.bin', bytes });
    const bo = await Reader.open(there, { name: 'Bo', web: site.web });
    await bo.read(link);
    await bo.reaches('here');
    assert.ok(bytes.equals(await bo.download()));
    assert.equal((await bo.counted()).path, 'turn');
    await bo.close();

    lab.block('b', 'udp');
    lab.block('b', { port: site.turnPort });
    lab.block('b', { port: site.turnsPort });
    const cy = await Reader.open(there, { name: 'Cy', web: site.web });
    await cy.read(link);
    await cy.reaches('here', 60_000);
    assert.ok(bytes.equals(await cy.download()));
    assert.equal((await cy.counted()).path, 'relay');
    await until(async () => /relay/i.test((await cy.page.locator('body').textContent()) ?? ''), {
      withinMs: 3000,
      what: () => 'the page to show that the relay forwarded it',
    });
  });
});
