/** The cap on open connections of one source that the chart's edge loads into the kernel. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { SITE_ADDRESS } from '../../support/namespaces.ts';
import { startSourceLab, type Connection, type Source, type SourceLab } from '../../support/source-lab.ts';
import { until } from '../../support/until.ts';

const CAP = 3;

describe('connections of one source', { timeout: 20_000 }, () => {
  let lab: SourceLab;

  beforeEach(async () => {
    lab = await startSourceLab(CAP);
  });

  afterEach(() => lab.close());

  it('[EDGE-5] a source at its cap opens no other connection until one ends, and other sources get in', async () => {
    const [first] = await fill([['first', CAP]], SITE_ADDRESS);
    await refused('first', SITE_ADDRESS);
    assert.ok(await lab.connect('neighbour', SITE_ADDRESS).open(), 'another address gets in');

    await first?.close();
    assert.ok(await lab.connect('first', SITE_ADDRESS).open(), 'a connection in its place gets in');
    await refused('first', SITE_ADDRESS);
  });

  it('[EDGE-5] addresses of one IPv6 network of 64 bits are one source', async () => {
    const [first] = await fill(
      [
        ['first', CAP - 1],
        ['neighbour', 1],
      ],
      '2001:db8:1::2',
    );
    await refused('first', '2001:db8:1::2');
    await refused('neighbour', '2001:db8:1::2');
    assert.ok(await lab.connect('other', '2001:db8:2::2').open(), 'another network gets in');

    await first?.close();
    assert.ok(await lab.connect('neighbour', '2001:db8:1::2').open(), 'a connection in its place gets in');
    await refused('first', '2001:db8:1::2');
  });

  async function fill(sources: readonly (readonly [Source, number])[], to: string): Promise<Connection[]> {
    const connections = sources.flatMap(([source, count]) =>
      Array.from({ length: count }, () => lab.connect(source, to)),
    );
    for (const connection of connections) assert.ok(await connection.open(), 'below the cap it gets in');
    return connections;
  }

  /** What the kernel dropped is not only slow: the connection is still not open after a second. */
  async function refused(source: Source, to: string): Promise<void> {
    const before = lab.dropped();
    const connection = lab.connect(source, to);
    await until(() => lab.dropped() > before, { withinMs: 1000, everyMs: 20, what: () => 'a dropped SYN' });
    assert.equal(await connection.open(), false);
    await connection.close();
  }
});
