import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { inRepository } from '@parley/local/repository';
import { diagnose } from '@parley/regions/test/support/diagnose.ts';
import { inIpv6 } from '../../src/network.ts';
import { host, installRelease } from '../../src/release.ts';
import { lab } from './entry.ts';
import { assertHelmTest } from './helm-test.ts';

describe('helm test', { timeout: 900_000 }, () => {
  before(() => installRelease(lab));

  it('finds nothing wrong: a join of two, TURN, a stream, and media over QUIC and WebSocket', (t) =>
    assertHelmTest(t, ['join', 'turn', 'stream', 'media']));

  // Not media: relays publish one address, of the first family of their nodes.
  it('[LIM-21] [TURN-14] a client that has IPv6 alone joins, and uses TURN and streams', async (t) => {
    const named = ['unshare', '--mount', 'sh', '-c', 'mount --bind "$0" /etc/hosts && exec "$@"'];
    const into = [...inIpv6, ...named, inRepository('infra/cluster/hosts6')];
    const { reports, exit } = await diagnose(t, [`https://${host}`], 'join,turn,stream', into);
    assert.equal(exit, 0, JSON.stringify(reports));
    const found = new Set(reports.flatMap(({ findings }) => findings.map(({ check }) => check)));
    for (const check of ['join', 'turn', 'stream']) assert.ok(found.has(check), check);
  });
});
