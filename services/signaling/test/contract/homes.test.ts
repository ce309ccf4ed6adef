/** What the service requires of requests between regions, checked in memory and over NATS. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { NatsConnection } from '@nats-io/transport-node';
import type { HomeAnswer, HomeRequest } from '@parley/protocol/home';
import { homeSubject } from '@parley/protocol/subjects';
import { memoryHomes } from '../../src/adapters/memory-homes.ts';
import { natsHomes } from '../../src/adapters/nats-homes.ts';
import type { HomeBus } from '../../src/core/ports.ts';
import { connectTo, startNats, type TestNats } from '../support/nats.ts';

let nats: TestNats;
const connections: NatsConnection[] = [];
before(async () => {
  nats = await startNats();
  for (const name of ['here', 'one', 'two']) connections.push(await connectTo(nats, name));
});
after(async () => {
  for (const connection of connections) await connection.close();
  await nats.close();
});

const REQUEST: HomeRequest = { type: 'read', pod: 'us_a', boot: 1, name: 'standup' };
const TIMEOUT_MS = 2000;
/** Below the timeout, and above what a message takes. */
const AT_ONCE_MS = 1000;

const inMemory = memoryHomes();
for (const [kind, open] of Object.entries({
  memory: (region: string) => inMemory.join(region),
  NATS: (region: string, process = 0) => {
    const connection = connections[process];
    assert.ok(connection);
    return natsHomes(connection, region);
  },
}) as [string, (region: string, process?: number) => HomeBus][]) {
  describe(`requests between regions over ${kind}`, () => {
    test('[HOME-1] one pod of the home region answers, and another one the next time', async () => {
      const asked: string[] = [];
      for (const process of [1, 2])
        open('eu', process).serve((request) => {
          asked.push(`${process} ${request.type}`);
          return Promise.resolve({ type: 'refused', code: 'POD_FULL' });
        });
      if (kind === 'NATS') for (const connection of connections) await connection.flush();
      for (let at = 1; at <= 40; at += 1) {
        const answer = await open('us').ask('eu', REQUEST, TIMEOUT_MS);
        assert.deepEqual(answer, { type: 'refused', code: 'POD_FULL' });
        assert.equal(asked.length, at);
      }
      assert.deepEqual(new Set(asked), new Set(['1 read', '2 read']));
    });

    test('[HOME-1] a region without pods does not answer, which is known at once', async () => {
      const begun = performance.now();
      assert.equal(await open('us').ask('nowhere', REQUEST, TIMEOUT_MS), undefined);
      assert.ok(performance.now() - begun < AT_ONCE_MS);
    });

    test('[HOME-1] a pod that is late has not answered', async () => {
      open('ap', 1).serve(() => new Promise<HomeAnswer>(() => undefined));
      if (kind === 'NATS') await connections[1]?.flush();
      const begun = performance.now();
      assert.equal(await open('us').ask('ap', REQUEST, 300), undefined);
      assert.ok(performance.now() - begun >= 295);
    });
  });
}

describe('requests between regions over NATS', () => {
  test('[HOME-1] a request that is none is refused, and an answer that is none is no answer', async () => {
    const [here, one] = connections;
    assert.ok(here && one);
    natsHomes(one, 'sa').serve(() => Promise.resolve({ type: 'room' }));
    one.subscribe(homeSubject('af'), { callback: (_error, message) => void message.respond('{"type":"?"}') });
    await one.flush();
    const refused = await here.request(homeSubject('sa'), '{"type":"steal"}', { timeout: TIMEOUT_MS });
    assert.deepEqual(JSON.parse(refused.string()), { type: 'refused', code: 'BAD_REQUEST' });
    assert.equal(await natsHomes(here, 'us').ask('af', REQUEST, TIMEOUT_MS), undefined);
  });
});
