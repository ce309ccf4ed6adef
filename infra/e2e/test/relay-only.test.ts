import { describe, it } from 'node:test';
import { withSite } from '../support/site.ts';
import { newRoom, Visitor } from '../support/visitor.ts';

describe('two people who hide their addresses', { timeout: 120_000 }, () => {
  const site = withSite();

  it('[TURN-1] meet at the TURN node: both paths are relayed on both sides', async () => {
    const room = newRoom();
    const ada = await Visitor.join(site.browser, { name: 'Ada', web: site.web, room, relayOnly: true });
    const bo = await Visitor.join(site.browser, { name: 'Bo', web: site.web, room, relayOnly: true });
    await Promise.all([ada.seesAndHears(1), bo.seesAndHears(1)]);
    await Promise.all([ada, bo].map((person) => person.usesPath(/^relay\/\w+-relay$/)));
    await Promise.all([ada.leave(), bo.leave()]);
  });
});
