import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '../../src/free-port.ts';
import { startStack } from '../../src/stack.ts';
import { Terminal } from '../../src/terminal.ts';
import { scratchDir } from '../scratch.ts';

// The whole stack for clients that have IPv6 alone: the edge, coturn and media at ::1.

interface Report {
  readonly ok: boolean;
  readonly findings: readonly { readonly check: string; readonly verdict: string; readonly said: string }[];
}

const ip = '::1';

test('a join, TURN, a stream and media work over IPv6, as the doctor reports', async (t) => {
  const ports = { turn: await freePort(), turns: await freePort(), turnMin: 17_000, turnMax: 17_900 };
  const env = { PARLEY_EDGE_HOST: ip, PARLEY_TURN_IP: ip, PARLEY_MEDIA_IP: ip };
  const stack = await startStack({ dir: scratchDir(t), ports, env });
  t.after(() => stack.stop());
  const { web, media, turn } = stack.endpoints;
  for (const url of [web, ...media]) assert.equal(new URL(url).hostname, '[::1]');
  assert.ok(turn.urls.every((url) => /^turns?:\[::1\]:/.test(url)));

  const doctor = Terminal.start(['doctor', web, '--insecure', '--wait', '30', '--json']);
  t.after(() => doctor.child.kill('SIGKILL'));
  const report = JSON.parse(await doctor.line('stdout')) as Report;
  const failing = report.findings.filter(({ verdict }) => verdict !== 'ok');
  assert.deepEqual(failing, []);
  assert.deepEqual([...new Set(report.findings.map(({ check }) => check))].toSorted(), [
    'clock',
    'dns',
    'health',
    'join',
    'media',
    'stream',
    'tls',
    'turn',
  ]);
  assert.equal(await doctor.ends(), 0);
});
