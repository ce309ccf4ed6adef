import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { helm, installRelease } from '../../src/release.ts';
import { lab } from './entry.ts';

describe('helm test', { timeout: 900_000 }, () => {
  before(() => installRelease(lab));

  it('finds nothing wrong: a join of two, TURN, a stream, and media over QUIC and WebSocket', async (t) => {
    const said = await helm(lab, 'test', 'parley', '--logs', '--timeout=5m');
    t.diagnostic(said);
    for (const check of ['join', 'turn', 'stream', 'media'])
      assert.match(said, new RegExp(`ok +${check}`), check);
    assert.doesNotMatch(said, /^ *fail /m);
  });
});
