import { describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../../support/browsers.ts';
import { startNatLab, type Home, type NatKind, type NatLab } from '../../support/nat-lab.ts';
import { startLabSite, type LabSite } from '../../support/lab-site.ts';
import { opened } from '../../support/opened.ts';
import { newRoom, Visitor } from '../../support/visitor.ts';

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
  readonly site: LabSite;
  /** Two people, each at home, in a new room, who see and hear each other. */
  meet(): Promise<[Visitor, Visitor]>;
}

function twoHomes(kind: NatKind): Homes {
  const street = opened(async (keep) => {
    const lab = keep(startNatLab(kind));
    const site = keep(await startLabSite(lab));
    // Chromium takes no self-signed certificate for `turns:` and has no switch for it but this one.
    const args = ['--ignore-certificate-errors'];
    const browserIn = async (home: Home): Promise<Browser> =>
      keep(await launchChromium({ executable: lab.chromiumIn(home), args }));
    return { lab, site, here: await browserIn('a'), there: await browserIn('b') };
  });
  return {
    get lab() {
      return street().lab;
    },
    get site() {
      return street().site;
    },
    async meet() {
      const room = newRoom();
      const { here, there, site } = street();
      const ada = await Visitor.join(here, { name: 'Ada', web: site.web, room });
      const bo = await Visitor.join(there, { name: 'Bo', web: site.web, room });
      await Promise.all([ada.receivesMedia(1), bo.receivesMedia(1)]);
      return [ada, bo];
    },
  };
}
