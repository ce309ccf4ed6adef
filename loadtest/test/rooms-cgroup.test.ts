import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { openCgroup, PERIOD_US } from '../src/rooms/cgroup.ts';

const GB = 2 ** 30;

function scratch(t: TestContext): { root: string; read: (path: string) => string } {
  const root = mkdtempSync(join(tmpdir(), 'parley-cgroup-'));
  t.after(() => rmSync(root, { recursive: true }));
  return { root, read: (path) => readFileSync(join(root, path), 'utf8') };
}

test('version 1: a quota and a limit of memory in two trees', (t) => {
  const { root, read } = scratch(t);
  for (const controller of ['cpu', 'memory']) mkdirSync(join(root, controller));
  const group = openCgroup('one', root);
  group.limit({ cpu: 0.3, memoryBytes: GB });
  group.add(42);
  assert.equal(read('cpu/one/cpu.cfs_period_us'), String(PERIOD_US));
  assert.equal(read('cpu/one/cpu.cfs_quota_us'), String(0.3 * PERIOD_US));
  assert.equal(read('memory/one/memory.limit_in_bytes'), String(GB));
  assert.deepEqual([read('cpu/one/cgroup.procs'), read('memory/one/cgroup.procs')], ['42', '42']);
  writeFileSync(join(root, 'cpu/one/cpu.stat'), 'nr_periods 9\nnr_throttled 3\nthrottled_time 25000000\n');
  assert.equal(group.throttledMs(), 25);
});

test('version 2: the same in one tree, with the controllers switched on', (t) => {
  const { root, read } = scratch(t);
  writeFileSync(join(root, 'cgroup.controllers'), 'cpuset cpu io memory pids\n');
  const group = openCgroup('one', root);
  group.limit({ cpu: 1, memoryBytes: GB });
  group.add(42);
  assert.equal(read('cgroup.subtree_control'), '+cpu +memory');
  assert.equal(read('one/cpu.max'), `${PERIOD_US} ${PERIOD_US}`);
  assert.equal(read('one/memory.max'), String(GB));
  assert.equal(read('one/cgroup.procs'), '42');
  writeFileSync(join(root, 'one/cpu.stat'), 'usage_usec 9\nthrottled_usec 2500\n');
  assert.equal(group.throttledMs(), 2.5);
});

test('without either, it is said what is missing', (t) => {
  const { root } = scratch(t);
  assert.throws(
    () => openCgroup('one', root),
    /relays cannot be limited: .* cgroup controllers cpu and memory/,
  );
});
