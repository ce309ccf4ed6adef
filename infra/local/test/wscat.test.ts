import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { inRepository } from '../src/repository.ts';
import { startStack, type Stack } from '../src/stack.ts';
import { scratchDir } from './scratch.ts';

// The command of README.md with the real wscat, through the real edge and a real relay.

const WITHIN_MS = 10_000;

let stack: Stack;
const cleanups: (() => unknown)[] = [];

before(async () => {
  stack = await startStack({ dir: scratchDir({ after: (work) => cleanups.push(work) }) });
});

after(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

test('[STR-2] [STR-10] two processes of wscat and a client exchange text, and wscat receives binary', async () => {
  const [one, two] = [startWscat(), startWscat()];
  const client = await openClient();
  // wscat prints nothing when it has connected.
  await until('both to receive', async () => {
    client.send('hello');
    await delay(50);
    return one.lines.includes('hello') && two.lines.includes('hello');
  });
  for (const received of [one.lines, two.lines, client.received]) received.length = 0;

  one.write('from the first');
  await until('the second and the client to receive', () => two.lines.length + client.received.length === 2);
  two.write('from the second: ünïcode');
  await until('the first and the client to receive', () => one.lines.length + client.received.length === 3);
  assert.deepEqual(client.received, ['from the first', 'from the second: ünïcode']);
  assert.deepEqual([one.lines, two.lines], [['from the second: ünïcode'], ['from the first']]);

  // A binary message; wscat prints it as text.
  client.send(new TextEncoder().encode('bytes'));
  await until('both to receive the bytes', () => one.lines.length + two.lines.length === 4);
  assert.deepEqual([one.lines.at(-1), two.lines.at(-1)], ['bytes', 'bytes']);
  client.close();
});

/** The command of README.md, with the port of this stack. */
function startWscat(): { readonly lines: string[]; write(line: string): void } {
  const documented = /^npx (wscat --connect) ws:\/\/127\.0\.0\.1:8080(\/streams\/\S+)$/m;
  const [, command = '', path] = documented.exec(readFileSync(inRepository('README.md'), 'utf8')) ?? [];
  assert.equal(path, '/streams/demo', 'README.md has the command');
  const { origin } = new URL(stack.endpoints.streams);
  const child = spawn('npx', [...command.split(' '), `${origin.replace('http', 'ws')}${path}`], {
    cwd: inRepository('infra/local'),
    stdio: ['pipe', 'pipe', 'inherit'],
    // npx starts wscat as its child.
    detached: true,
  });
  const ended = once(child, 'exit');
  cleanups.push(async () => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await ended;
  });
  const lines: string[] = [];
  // After a line that was sent, wscat prints its prompt.
  createInterface(child.stdout).on('line', (line) => lines.push(line.replace(/^(?:> )+/, '')));
  return { lines, write: (line) => void child.stdin.write(`${line}\n`) };
}

async function openClient() {
  const socket = new WebSocket(`${stack.endpoints.streams}/demo`);
  const received: unknown[] = [];
  socket.addEventListener('message', ({ data }: { data: unknown }) => received.push(data));
  await once(socket, 'open', { signal: AbortSignal.timeout(WITHIN_MS) });
  return {
    received,
    send: (message: string | Uint8Array<ArrayBuffer>) => socket.send(message),
    close: () => socket.close(),
  };
}

async function until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + WITHIN_MS;
  while (!(await isSo())) {
    assert.ok(Date.now() < deadline, `waited for ${what}`);
    await delay(20);
  }
}
