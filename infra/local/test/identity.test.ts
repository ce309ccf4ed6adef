import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { writePrivate } from '../src/files.ts';
import { hasEnded, identify, isAlive, signalProcess, type Identity } from '../src/identity.ts';
import { readRecord, stopProcess, type ProcessRecord } from '../src/supervise.ts';
import { scratchDir } from './scratch.ts';

test('a process is itself for as long as it lives', async (t) => {
  const { child, identity } = await bystander(t);
  assert.ok(isAlive(identity));
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.ok(!isAlive(identity));
  assert.ok(await hasEnded(identity, 0));
});

test('a pid that now belongs to a process started at another time is not taken for the recorded one', async (t) => {
  const { identity } = await bystander(t);
  assert.ok(!isAlive({ ...identity, startTicks: identity.startTicks - 1 }));
  assert.ok(!isAlive({ ...identity, bootId: 'an earlier boot' }));
});

test('a process with a recycled pid gets no signal', async (t) => {
  const { identity } = await bystander(t);
  assert.equal(signalProcess({ ...identity, startTicks: identity.startTicks - 1 }, 'SIGKILL'), false);
  assert.ok(isAlive(identity));
});

test('stopping a stack forgets a record whose pid was recycled, and leaves the stranger alone', async (t) => {
  const dir = scratchDir(t);
  const { identity } = await bystander(t);
  const stale = recordOf({ ...identity, startTicks: identity.startTicks - 1 });
  writePrivate(join(dir, 'run/nats.json'), JSON.stringify(stale));

  await stopProcess(dir, stale);

  assert.equal(readRecord(dir, 'nats'), undefined);
  assert.ok(isAlive(identity));
});

/** A process that would end at once from any signal. */
async function bystander(t: TestContext): Promise<{ child: ChildProcess; identity: Identity }> {
  const child = spawn('sleep', ['60']);
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  const identity = child.pid === undefined ? undefined : identify(child.pid);
  assert.ok(identity);
  return { child, identity };
}

function recordOf(identity: Identity): ProcessRecord {
  return { ...identity, name: 'nats', url: '', log: '', fingerprint: '' };
}
