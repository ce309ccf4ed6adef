/** `parley doctor` with several hosts, from a region and from this machine. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventually } from '../../../../services/signaling/test/support/deadline.ts';
import { farEdgeUrl } from '../../src/site.ts';
import { diagnose, FOUND_FAILURE } from '../support/diagnose.ts';
import { lab } from '../support/lab.ts';

/** Relays publish a lease of each other once a second, and dial then. */
const HEALTHY_WITHIN_MS = 60_000;

describe('FAULT=doctor: the doctor', { timeout: 180_000 }, () => {
  const regions = lab({}, {}, true);

  it('finds two regions well, and that rooms, streams and media pass between them in both directions', async (t) => {
    const hosts = (['eu', 'us'] as const).map(farEdgeUrl);
    const found = await eventually(
      'a doctor that finds nothing',
      async () => {
        const { reports, exit } = await diagnose(t, hosts, 'clock,join,stream,media', regions().inside('eu'));
        if (exit !== 0) t.diagnostic(JSON.stringify(reports.filter(({ ok }) => !ok)));
        return exit === 0 ? reports : undefined;
      },
      HEALTHY_WITHIN_MS,
    );
    const between = found.filter((report) => report.with !== undefined);
    assert.deepEqual(
      between.map((report) => report.findings.map(({ check }) => check).join()),
      Array.from({ length: 2 }, () => 'clock,join,stream,media,media'),
    );
  });

  it('finds that two regions are cut off from each other, and says what to look at', async (t) => {
    t.after(() => regions().heal());
    regions().cut('eu', 'us');
    const hosts = (['eu', 'us'] as const).map((region) => regions().edge(region));
    const { reports, exit } = await diagnose(t, hosts, 'clock,join,stream');
    assert.equal(exit, FOUND_FAILURE);
    const failed = reports.flatMap(({ host, with: other = host, findings }) =>
      findings
        .filter(({ verdict }) => verdict === 'fail')
        .map((finding) => ({ ...finding, far: other !== host })),
    );
    assert.deepEqual(
      failed.map(({ check, far }) => [check, far]),
      ['join', 'stream', 'join', 'stream'].map((check) => [check, true]),
    );
    for (const { advice } of failed) assert.ok(advice);
  });
});
