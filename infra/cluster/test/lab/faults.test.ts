import { after, afterEach, before, describe, it } from 'node:test';
import { powerOn } from '../../src/cluster.ts';
import { allReady } from '../../src/faults.ts';
import { nodes } from '../../src/lab.ts';
import { setCable } from '../../src/network.ts';
import { installRelease } from '../../src/release.ts';
import { withBrowser } from './browser.ts';
import { lab } from './entry.ts';
import { faults } from './fault-list.ts';
import { publish } from './report.ts';
import { assertBounded, isFull } from './trial.ts';

describe('faults', { timeout: 5_400_000 }, () => {
  before(async () => {
    await installRelease(lab);
    await allReady(lab);
  });
  const browser = withBrowser();

  afterEach(async () => {
    for (const node of nodes) setCable(node, 'up');
    await Promise.all(nodes.map((node) => powerOn(lab, node)));
    await allReady(lab);
  });
  after(publish);

  for (const fault of faults.filter(({ always }) => always || isFull)) {
    it(`[P2] ${fault.name}: no participant is lost, and interruptions are as short as promised`, (t) =>
      assertBounded(t, browser(), fault));
  }
});
