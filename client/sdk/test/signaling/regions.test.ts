import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Call, CallOptions } from '../../src/call.ts';
import { fakeRegions, listOf, remembering, type FakeRegions, type Name } from '../fakes/regions.ts';
import { ROOM, welcome } from '../fakes/messages.ts';
import { fakeService, joinAnswer, refusal } from '../fakes/service.ts';
import { nextSocket } from '../fakes/steps.ts';

const socketIn = (name: Name): string => `wss://${name}/v1/rooms/${ROOM}/socket`;
/** `joinAnswer` has it. */
const ANSWERED = 'ws://pod/socket';
const known = (region: Name): string => JSON.stringify({ api: 'https://api', ...listOf(region) });

/** The address of the first socket, and when it was opened. */
async function firstSocket(
  { service }: FakeRegions,
  change?: Partial<CallOptions>,
): Promise<{ call: Call; url: string; afterMs: number | null }> {
  const call = service.join(change);
  const afterMs = await nextSocket(service);
  return { call, url: service.socket.url, afterMs };
}

async function welcomed({ service }: FakeRegions, region: Name): Promise<void> {
  service.socket.open();
  service.socket.sendMessage(welcome({ regions: listOf(region), resume: `token of ${region}` }));
  await service.settle();
}

describe('the choice of a region', () => {
  test('[REG-8] an installation with one region is sent no other request than before', async () => {
    const service = fakeService();
    await service.enter({ region: 'us' });
    assert.deepEqual([service.joins.length, service.commands.length], [1, 0]);
    assert.equal(service.socket.url, ANSWERED);
  });

  test('[REG-8] the first answer names the regions, and the ticket is used in the nearest', async () => {
    const regions = fakeRegions({ eu: 80, us: 20, ap: 300 });
    const { url, afterMs } = await firstSocket(regions);
    assert.equal(url, socketIn('us'));
    assert.equal(regions.service.joins.length, 1);
    // Two requests to the nearest, then 100 ms for the others.
    assert.equal(afterMs, 140);
    regions.service.socket.open();
    assert.equal(regions.service.socket.sent[0]?.['ticket'], 'ticket');
  });

  test('[REG-8] the second request counts: the first one also opens the connection', async () => {
    const regions = fakeRegions({ eu: 50, us: 500, ap: 500 });
    const { fetch } = regions.service.ports;
    const asked = (): number => regions.probes.filter((name) => name === 'us').length;
    Object.assign(regions.service.ports, {
      fetch: (...args: Parameters<typeof fetch>) => {
        if (args[0].includes('us')) regions.trips.us = asked() === 0 ? 60 : 5;
        return fetch(...args);
      },
    });
    assert.equal((await firstSocket(regions)).url, socketIn('us'));
  });

  for (const [us, chosen] of [
    [40, ANSWERED],
    [39, socketIn('us')],
  ] as const)
    test(`[REG-8] the region that answered at 50 ms is kept unless another is more than 10 ms nearer: ${us} ms`, async () => {
      assert.equal((await firstSocket(fakeRegions({ eu: 50, us, ap: 200 }))).url, chosen);
    });

  test('[REG-8] a region that does not answer or refuses is skipped', async () => {
    assert.equal((await firstSocket(fakeRegions({ eu: 80, us: 'refuses', ap: null }))).url, ANSWERED);
    assert.equal((await firstSocket(fakeRegions({ eu: null, us: 90, ap: 'refuses' }))).url, socketIn('us'));
  });

  test('[REG-8] a region that refuses as there were too many requests answers', async () => {
    const regions = fakeRegions({ eu: 80, us: 20, ap: 20 });
    const { fetch } = regions.service.ports;
    Object.assign(regions.service.ports, {
      fetch: async (...args: Parameters<typeof fetch>) => {
        const answer = await fetch(...args);
        return args[0] === 'https://us/v1/regions' ? refusal(429, 'TOO_MANY_REQUESTS')() : answer;
      },
    });
    assert.equal((await firstSocket(regions)).url, socketIn('us'));
  });

  test('[REG-8] the choice delays a join by a second at most', async () => {
    const { url, afterMs } = await firstSocket(fakeRegions({ eu: null, us: null, ap: null }));
    assert.deepEqual([url, afterMs], [ANSWERED, 1000]);
  });

  test('[REG-8] a call that remembers the regions chooses before it asks for a ticket', async () => {
    const regions = fakeRegions({ eu: 80, us: 20, ap: 300 });
    regions.memory = known('eu');
    regions.service.answers = [() => Response.json({ ...joinAnswer, regions: listOf('us') })];
    const { url } = await firstSocket(regions, remembering(regions));
    assert.match(regions.service.joins[0]?.what ?? '', /^POST https:\/\/us\//);
    assert.equal(url, ANSWERED);
    assert.equal(regions.probes.filter((name) => name === 'us').length, 2, 'it chooses once');
  });

  test('[REG-8] where none of the regions that it remembers answers, it asks at the address of the page', async () => {
    const regions = fakeRegions({ eu: null, us: null, ap: null });
    regions.memory = known('us');
    const { url, afterMs } = await firstSocket(regions, remembering(regions));
    assert.match(regions.service.joins[0]?.what ?? '', /^POST \/v1/);
    assert.deepEqual([url, afterMs], [ANSWERED, 1000]);
  });

  test('[REG-8] the region that was used last is remembered with the others', async () => {
    const regions = fakeRegions({ eu: 80, us: 20, ap: 300 });
    await firstSocket(regions, remembering(regions));
    await welcomed(regions, 'us');
    assert.deepEqual(JSON.parse(regions.memory ?? ''), JSON.parse(known('us')));
  });

  for (const memory of ['', 'null', '{', known('eu').replace('https://api', 'https://another')])
    test(`[REG-8] a memory of ${memory || 'nothing'} is ignored`, async () => {
      const regions = fakeRegions({ eu: 5, us: 80, ap: 300 });
      regions.memory = memory;
      await firstSocket(regions, remembering(regions));
      assert.match(regions.service.joins[0]?.what ?? '', /^POST \/v1/);
    });

  test('[REG-8] a hint overrides distance, while that region answers', async () => {
    const far = fakeRegions({ eu: 5, us: 20, ap: 400 });
    const hinted = await firstSocket(far, { region: 'ap' });
    assert.deepEqual([hinted.url, hinted.afterMs], [socketIn('ap'), 800]);
    assert.equal(
      (await firstSocket(fakeRegions({ eu: 80, us: 20, ap: null }), { region: 'ap' })).url,
      socketIn('us'),
    );
    assert.equal(
      (await firstSocket(fakeRegions({ eu: 5, us: 20, ap: 1 }), { region: 'mars' })).url,
      ANSWERED,
    );
  });

  test('[REG-8] a region that takes no sockets is left, and not chosen again', async () => {
    const regions = fakeRegions({ eu: 80, us: 20, ap: 300 });
    const { service } = regions;
    await firstSocket(regions);
    for (let failures = 0; failures < 3; failures += 1) {
      assert.equal(service.socket.url, socketIn('us'));
      service.socket.drop(1006);
      await nextSocket(service);
    }
    assert.equal(service.socket.url, ANSWERED);
    assert.match(service.joins[1]?.what ?? '', /^POST \/v1/);
  });

  test('leaving during the choice ends it', async () => {
    const regions = fakeRegions({ eu: null, us: null, ap: null });
    const call = regions.service.join();
    await regions.service.settle();
    call.leave();
    await regions.service.ports.clock.advance(20_000);
    assert.equal(regions.service.sockets.length, 0);
    assert.equal(regions.service.ports.clock.pending, 0);
  });
});
