import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../support/browsers.ts';
import { startNatLab, type NatKind, type NatLab } from '../support/nat-lab.ts';
import { startNatSite, type NatSite } from '../support/nat-site.ts';
import { newRoom, Visitor } from '../support/visitor.ts';

describe('behind two NATs that keep a port', { timeout: 240_000 }, () => {
  const homes = twoHomes('port-restricted');

  it('[TURN-3] a call connects directly, through what STUN found', async () => {
    const [ada, bo] = await homes.meet();
    // ICE may begin on a relayed pair and move to the better one.
    await ada.usesPath(/^(srflx|prflx)-(srflx|prflx)$/);
    await Promise.all([ada.leave(), bo.leave()]);
  });
});

describe('behind two NATs that take a random port for each peer', { timeout: 240_000 }, () => {
  const homes = twoHomes('symmetric');

  it('[TURN-3] a call connects through TURN over UDP', async () => {
    const [ada, bo] = await homes.meet();
    await ada.usesPath(/relay/);
    await Promise.all([ada.leave(), bo.leave()]);
  });

  it('[TURN-3] with UDP blocked it connects through TURN over TCP', async () => {
    homes.lab.block('a', 'udp');
    const [ada, bo] = await homes.meet();
    await ada.usesPath(/^relay\/tcp/);
    await Promise.all([ada.leave(), bo.leave()]);
  });

  it('[TURN-3] with UDP and plain TURN blocked it connects through turns:', async () => {
    homes.lab.block('a', { port: homes.site.turnPort });
    const [ada, bo] = await homes.meet();
    await ada.usesPath(/^relay\/tls/);
    await Promise.all([ada.leave(), bo.leave()]);
  });
});

interface Homes {
  readonly lab: NatLab;
  readonly site: NatSite;
  /** Two people, each at home, in a new room, who see and hear each other. */
  meet(): Promise<[Visitor, Visitor]>;
}

function twoHomes(kind: NatKind): Homes {
  const started: { lab?: NatLab; site?: NatSite; browsers: Browser[] } = { browsers: [] };
  before(async () => {
    started.lab = startNatLab(kind);
    started.site = await startNatSite(started.lab);
    for (const home of ['a', 'b'] as const) {
      // Chromium takes no self-signed certificate for `turns:` and has no switch for it but this one.
      const args = ['--ignore-certificate-errors'];
      started.browsers.push(await launchChromium({ executable: started.lab.chromiumIn(home), args }));
    }
  });
  after(async () => {
    for (const browser of started.browsers) await browser.close();
    await started.site?.close();
    started.lab?.close();
  });
  const homes = {
    get lab() {
      return present(started.lab);
    },
    get site() {
      return present(started.site);
    },
    async meet(): Promise<[Visitor, Visitor]> {
      const room = newRoom();
      const [here, there] = started.browsers;
      const { web } = homes.site;
      const ada = await Visitor.join(present(here), { name: 'Ada', web, room });
      const bo = await Visitor.join(present(there), { name: 'Bo', web, room });
      await Promise.all([ada.seesAndHears(1), bo.seesAndHears(1)]);
      return [ada, bo];
    },
  };
  return homes;
}

function present<Thing>(thing: Thing | undefined): Thing {
  assert.ok(thing !== undefined, 'the lab did not start');
  return thing;
}
