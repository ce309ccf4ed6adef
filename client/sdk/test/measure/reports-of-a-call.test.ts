import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallOptions } from '../../src/call.ts';
import { member, participant, welcome } from '../fakes/messages.ts';
import { fakeRelays } from '../fakes/relayed-room.ts';
import { fakeService } from '../fakes/service.ts';

const EVERY_MS = 10_000;

test('[QUAL-1] a participant who is asked for reports sends them', async () => {
  const [report, ...others] = await reportsOf({});
  assert.deepEqual([report?.['path'], report?.['lossPermille'], others.length], ['relay', 10, 0]);
});

test('[QUAL-1] an application that switches reports off sends none', async () => {
  assert.deepEqual(await reportsOf({ reports: false }), []);
});

/** The reports of a call in a room of five, whose voices arrive through relays; it is asked for them, also by a resume. */
async function reportsOf(options: Partial<CallOptions>): Promise<Record<string, unknown>[]> {
  const relays = fakeRelays();
  const service = fakeService({ relayedMedia: relays.load });
  const others = ['a', 'b', 'c', 'd'].map(participant);
  const welcomed = welcome({ roster: others.map((one) => member(one, one)), reportEveryMs: EVERY_MS });
  const pass = async (ms: number): Promise<void> => {
    await service.settle();
    // The pod is alive: without its messages the client would abandon the socket.
    for (let at = 0; at < ms; at += 4000)
      service.ports.clock.after(at, () => service.socket.sendMessage({ type: 'pong' }));
    await service.ports.clock.advance(ms);
    await service.settle();
  };
  const call = service.join(options);
  await service.settle();
  service.socket.open();
  service.socket.sendMessage(welcomed);
  await pass(100);
  for (const one of others) relays.bring(one);
  service.socket.drop(1006);
  await pass(2000);
  service.socket.open();
  service.socket.sendMessage(welcomed);
  await pass(EVERY_MS + 100);
  call.leave();
  return service.sockets.flatMap(({ sent }) => sent.filter(({ type }) => type === 'quality'));
}
