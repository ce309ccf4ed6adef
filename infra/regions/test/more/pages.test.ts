import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../../../services/signaling/test/support/deadline.ts';
import { Visitor } from '../../../../services/signaling/test/support/visitor.ts';
import { lab, linked } from '../support/lab.ts';

/** SPEC rule PAGE-8, and a round trip between eu and us. */
const EXACT_MS = 2000 + 90;
/** Pods that have just started may miss a holder for `page.settleTime`. */
const SETTLED_MS = 10_000 + EXACT_MS;
/** The silence of a dead pod, the heartbeat at which it is noticed, and the next count. */
const NOT_COUNTED_MS = 3500 + 1000 + EXACT_MS;
/** Longer than the silence of a dead pod and `page.settleTime` together, after which a page without holders is gone. */
const CUT_MS = 16_000;
/**
 * What waited for the end of a cut, the heartbeats that end the cut and the wait, and the next count. A pod whose heartbeats return is asked once, and again
 * after this wait (PAGE-12), as the first request may be lost where gateways do not know its subscriptions yet.
 */
const SETTLED_AGAIN_MS = 12_000;
const BYTES = 1000;

const regions = lab();
const page = randomBytes(32).toString('hex');

const announce = (visitor: Visitor): void =>
  visitor.sendMessage({ type: 'announce', page, whole: true, bytes: BYTES });

async function reader(): Promise<Visitor> {
  const visitor = await Visitor.arrive({ url: regions().pod('eu', 1) });
  visitor.sendMessage({ type: 'subscribe', page });
  return visitor;
}

const isGone = ({ messages }: Visitor): boolean =>
  messages.some((message) => message.type === 'count' && message.settled && message.holders === 0);

test('[PAGE-6] [PAGE-13] FAULT=pages: holders of other regions are found where a region has too few, and beyond a cut they are not gone', async (t) => {
  t.after(() => regions().heal());
  await linked(regions());
  const far = await Visitor.arrive({ url: regions().pod('us', 1) });
  announce(far);
  const bo = await reader();
  await eventually('the holder in us is found', () => bo.holders.includes(far.arrived.visitor), EXACT_MS);
  await eventually('the count is settled', () => bo.count === '1+1', SETTLED_MS);

  const near = await Visitor.arrive({ url: regions().pod('eu', 2) });
  announce(near);
  await eventually('the holder in eu is found', () => bo.holders.includes(near.arrived.visitor), EXACT_MS);
  const cy = await reader();
  await eventually('both are found', () => cy.holders.length === 2, EXACT_MS);
  assert.deepEqual(cy.holders, [near.arrived.visitor, far.arrived.visitor]);
  near.socket.close();
  await eventually('one holder is left', () => bo.count === '1+2', EXACT_MS);

  regions().cut('eu', 'us');
  await eventually('the holder beyond the cut is not counted', () => bo.count === '0+2?', NOT_COUNTED_MS);
  const dee = await reader();
  await pause(CUT_MS);
  for (const visitor of [bo, cy, dee]) assert.ok(!isGone(visitor), visitor.count);
  assert.equal(dee.count, '0+3?');

  const healedAt = performance.now();
  regions().heal();
  await linked(regions());
  await eventually('all find it again', () => dee.holders.includes(far.arrived.visitor), SETTLED_AGAIN_MS);
  t.diagnostic(`found again ${Math.round(performance.now() - healedAt)} ms after the links returned`);
  await eventually('the count is settled', () => bo.count === '1+3', SETTLED_AGAIN_MS);
  far.sendMessage({ type: 'leave', page });
  await eventually('it is gone', () => bo.count === '0+3', EXACT_MS);
  for (const visitor of [far, bo, cy, dee]) visitor.socket.close();
});
