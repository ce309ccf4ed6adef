/** An edge whose node is lost closes nothing: the kernel of the pod probes each connection. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { test } from 'node:test';
import { eventually } from '../support/deadline.ts';
import { startLimitedPod } from '../support/pod.ts';

const ESTABLISHED = '01';
const KEEPALIVE_TIMER = '02';

test('connections to a pod are probed by the kernel while they are quiet', async (context) => {
  const { url } = await startLimitedPod(context, {});
  const port = Number(new URL(url).port);
  const socket = connect(port, '127.0.0.1');
  context.after(() => socket.destroy());
  await once(socket, 'connect');
  await eventually('the timer of probes runs', () => timersOf(port).includes(KEEPALIVE_TIMER));
  assert.deepEqual(new Set(timersOf(port)), new Set([KEEPALIVE_TIMER]));
});

test('a connection without a request stays open for longer than the edge reuses it', async (context) => {
  const edge = readFileSync(new URL('../../../../charts/parley/files/envoy.yaml', import.meta.url), 'utf8');
  const reusedS = Number(/reused[\s\S]+?idle_timeout: (\d+)s/.exec(edge)?.[1]);
  const { url } = await startLimitedPod(context, {});
  const kept = (await fetch(`${url}/healthz`)).headers.get('keep-alive');
  const keptS = Number(/timeout=(\d+)/.exec(String(kept))?.[1]);
  assert.ok(reusedS > 0 && keptS > reusedS, `kept for ${keptS} s, reused for ${reusedS} s`);
});

/** The timers of open connections of this process at its own port. */
function timersOf(port: number): string[] {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/self/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, address, , state]) => address?.endsWith(local) === true && state === ESTABLISHED)
    .map((columns) => columns[5]?.slice(0, 2) ?? '');
}
