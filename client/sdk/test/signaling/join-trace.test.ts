/** How a join is named for the traces of the service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admitted, fakeService, refusal } from '../fakes/service.ts';
import { nextSocket } from '../fakes/steps.ts';

const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/;
const OWN = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;

test('[TRACE-1] [TRACE-3] a request to the own origin has a traceparent whose span the service writes, and enter the time since the join began', async () => {
  const service = fakeService({ origin: 'https://api' });
  service.answers = [refusal(503, 'NOT_READY', { 'retry-after': '7' }), admitted];
  service.join();
  await nextSocket(service);
  // The handshake of the socket is part of the join.
  await service.ports.clock.advance(3000);
  service.socket.open();
  const [first, second] = service.joins;
  assert.match(first?.traceparent ?? '', TRACEPARENT);
  assert.equal(second?.traceparent, first?.traceparent, 'a repeated request belongs to the same join');
  const elapsed = Number(service.socket.sent[0]?.['elapsedMs']);
  assert.ok(elapsed >= 10_000 && elapsed < 11_000, String(elapsed));
});

test('[TRACE-1] a request to another origin has none, as an older service would not allow it', async () => {
  for (const origin of ['https://elsewhere', undefined]) {
    const service = fakeService(origin === undefined ? {} : { origin });
    await service.enter();
    assert.equal(service.joins[0]?.traceparent, undefined);
  }
});

test('[TRACE-3] a span of the page is sent to the origin that the page named', async () => {
  const service = fakeService({ origin: 'https://elsewhere' });
  await service.enter({ traceparent: OWN });
  assert.equal(service.joins[0]?.traceparent, OWN);
});
