/** The edge's rates are a last resort: pods answer first. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { defaultLimits } from '@parley/protocol/limits';
import { requestLimits } from '../src/edge-limits.ts';

/** Of the local stack, and the default of the chart. */
const PODS = 2;
const limits = defaultLimits();
const edge = Object.fromEntries(
  Object.entries(requestLimits).map(([placeholder, { value }]) => [placeholder, value]),
) as Record<keyof typeof requestLimits, number>;

test('[EDGE-4] [JOIN-15] the edge lets through what pods admit or give slots to, and each join twice', () => {
  assert.ok(edge.JOIN_PER_SECOND > 2 * PODS * limits['pod.joins']);
  assert.ok(edge.JOIN_BURST >= PODS * limits['pod.slots']);
  assert.ok(edge.ADDRESS_JOINS_BURST >= 2 * limits['address.joins']);
  assert.ok(edge.ADDRESS_JOINS_PER_SECOND >= (2 * limits['address.joins']) / 60);
});

test('[EDGE-4] [RES-13] the edge lets an address open as many sockets as pods let it resume', () => {
  assert.ok(edge.ADDRESS_SOCKETS_BURST > limits['address.resumes']);
  assert.ok(edge.ADDRESS_SOCKETS_PER_SECOND > limits['address.resumes'] / 60);
});

test('the chart has the same rates', () => {
  const values = readFileSync(new URL('../../../charts/parley/values.yaml', import.meta.url), 'utf8');
  const section = (name: string): number[] => {
    const [, after = ''] = values.split(`  ${name}:\n`);
    return [...after.matchAll(/(?:perSecond|burst): (\d+)/g)].slice(0, 2).map(([, rate]) => Number(rate));
  };
  assert.deepEqual(section('joinLimits'), [edge.JOIN_PER_SECOND, edge.JOIN_BURST]);
  assert.deepEqual(section('  joins'), [edge.ADDRESS_JOINS_PER_SECOND, edge.ADDRESS_JOINS_BURST]);
  assert.deepEqual(section('  sockets'), [edge.ADDRESS_SOCKETS_PER_SECOND, edge.ADDRESS_SOCKETS_BURST]);
});
