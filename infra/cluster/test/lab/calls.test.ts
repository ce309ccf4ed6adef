import { afterEach, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { opened } from '@parley/e2e/support/opened.ts';
import { newRoom, Visitor } from '@parley/e2e/support/visitor.ts';
import { nodes } from '../../src/lab.ts';
import { installRelease } from '../../src/release.ts';
import { launchBy, web } from './browser.ts';
import { lab } from './entry.ts';

describe('two participants that joined through different nodes', { timeout: 900_000 }, () => {
  before(() => installRelease(lab));
  const browsers = opened(async (keep): Promise<[Browser, Browser]> => {
    const [first, second] = nodes;
    if (!first || !second) throw new Error('the lab has two nodes at least');
    return [keep(await launchBy(first)), keep(await launchBy(second))];
  });
  afterEach(async () => {
    const profiles = browsers().flatMap((browser) => browser.contexts());
    await Promise.all(profiles.map((profile) => profile.close()));
  });

  it('see and hear each other', async () => {
    const room = newRoom();
    const [ada, bo] = await Promise.all([
      Visitor.join(browsers()[0], { name: 'Ada', web, room }),
      Visitor.join(browsers()[1], { name: 'Bo', web, room }),
    ]);
    await Promise.all([ada.receivesMedia(1), bo.receivesMedia(1)]);
    await Promise.all([ada.leave(), bo.leave()]);
  });

  it('[TURN-1] and hide their addresses connect through TURN servers', async () => {
    const room = newRoom();
    const [ada, bo] = await Promise.all([
      Visitor.join(browsers()[0], { name: 'Ada', web, room, relayOnly: true }),
      Visitor.join(browsers()[1], { name: 'Bo', web, room, relayOnly: true }),
    ]);
    await Promise.all([ada.receivesMedia(1), bo.receivesMedia(1)]);
    await Promise.all([ada, bo].map((person) => person.usesPath(/^relay\/\w+-relay$/)));
    await Promise.all([ada.leave(), bo.leave()]);
  });
});
