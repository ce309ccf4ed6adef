import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { judge, read, type Reading } from '../../src/mesh/quality.ts';

const reading = (change: Partial<Reading>): Reading => ({
  path: 'direct',
  roundTripMs: 20,
  received: 0,
  lost: 0,
  farLoss: 0,
  ...change,
});

describe('the quality of a link', () => {
  const verdicts: readonly (readonly [string, Reading | undefined, Reading, string, number | null])[] = [
    ['first reading', undefined, reading({}), 'good', null],
    ['nothing known', undefined, reading({ roundTripMs: null }), 'unknown', null],
    ['no loss', reading({}), reading({ received: 100 }), 'good', 0],
    ['some loss', reading({}), reading({ received: 95, lost: 5 }), 'fair', 5],
    ['much loss', reading({}), reading({ received: 80, lost: 20 }), 'poor', 20],
    ['one of few packets', reading({}), reading({ received: 9, lost: 1 }), 'good', null],
    ['loss on the way out', reading({}), reading({ received: 100, farLoss: 0.1 }), 'poor', 10],
    ['late packets arrived', reading({ lost: 10 }), reading({ received: 100, lost: 8 }), 'good', 0],
    ['long way', reading({}), reading({ roundTripMs: 500, received: 100 }), 'fair', 0],
    ['very long way', reading({}), reading({ roundTripMs: 900, received: 100 }), 'poor', 0],
  ];
  for (const [title, before, now, quality, loss] of verdicts) {
    test(`${title}: ${quality}`, () => {
      const verdict = judge(now, before);
      assert.deepEqual([verdict.quality, verdict.lossPercent], [quality, loss]);
    });
  }

  const pair = { type: 'candidate-pair', state: 'succeeded', nominated: true, currentRoundTripTime: 0.0421 };
  const ends = { localCandidateId: 'L', remoteCandidateId: 'R' };
  const candidates = (remote: string): [string, unknown][] => [
    ['L', { type: 'local-candidate', candidateType: 'host' }],
    ['R', { type: 'remote-candidate', candidateType: remote }],
  ];

  test('Chromium: the transport names the pair', () => {
    const found = read([
      ['T', { type: 'transport', selectedCandidatePairId: 'P' }],
      ['P', { ...pair, ...ends }],
      ...candidates('relay'),
      ['I', { type: 'inbound-rtp', packetsReceived: 7, packetsLost: -1 }],
    ]);
    assert.deepEqual(found, { path: 'turn', roundTripMs: 42, received: 7, lost: 0, farLoss: 0 });
  });

  test('Firefox: the pair itself is marked', () => {
    const found = read([
      ['Q', { ...pair, localCandidateId: 'R', remoteCandidateId: 'R' }],
      ['P', { ...pair, ...ends, selected: true }],
      ...candidates('srflx'),
    ]);
    assert.equal(found?.path, 'direct');
  });

  test('no pair in use: no reading', () => {
    assert.equal(read([['P', { ...pair, state: 'in-progress' }], ...candidates('host')]), undefined);
  });
});
