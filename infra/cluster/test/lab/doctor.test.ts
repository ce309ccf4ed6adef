import { before, describe, it } from 'node:test';
import { installRelease } from '../../src/release.ts';
import { lab } from './entry.ts';
import { assertHelmTest } from './helm-test.ts';

describe('helm test', { timeout: 900_000 }, () => {
  before(() => installRelease(lab));

  it('finds nothing wrong: a join of two, TURN, a stream, and media over QUIC and WebSocket', (t) =>
    assertHelmTest(t, ['join', 'turn', 'stream', 'media']));
});
