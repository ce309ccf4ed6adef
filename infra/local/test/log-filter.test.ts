import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { coturnSpec } from '../src/coturn.ts';
import { freePorts } from '../src/ports.ts';
import { describeSite } from '../src/stack.ts';
import { ensureRunning, stopProcess } from '../src/supervise.ts';
import { scratchDir } from './scratch.ts';

const WITHIN_MS = 10_000;

test('[TURN-12] what a process writes goes through its filter into the log, which ends with the process', async (t) => {
  const dir = scratchDir(t);
  // coturn's own filter, with a process that writes as coturn does when its ports are taken.
  const { logFilter = '' } = coturnSpec(describeSite(dir, await freePorts({}), {}));
  const { record } = await ensureRunning(dir, {
    name: 'flood',
    command: 'sh',
    args: ['-c', 'yes "bind: Address already in use" | head -n 100000; exec sleep 60'],
    env: {},
    logFilter,
    files: [],
    ports: [],
    url: '',
    ready: () => Promise.resolve(),
  });
  const log = (): string => readFileSync(record.log, 'utf8');
  const until = async (what: string, holds: () => boolean): Promise<void> => {
    const deadline = Date.now() + WITHIN_MS;
    while (!holds()) {
      assert.ok(Date.now() < deadline, `${what}: ${log().slice(-200)}`);
      await pause(20);
    }
  };
  await until('the burst is written', () => log().split('\n').length > 200);
  await stopProcess(dir, record);
  await until('the filter reports and ends', () => /suppressed \d+ lines\n$/.test(log()));
  const lines = log().trimEnd().split('\n');
  assert.ok(lines.length < 300, `${lines.length} lines`);
  const suppressed = Number(/suppressed (\d+) lines/.exec(lines.at(-1) ?? '')?.[1]);
  assert.equal(lines.length - 1 + suppressed, 100_000);
});
