import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { freePort } from '../src/free-port.ts';

const PROCESSES = 6;
const PORTS = 150;

// Of 900 ports that are chosen at random from 14,000 without regard to each other, two are the same in all but 1 of 10^12 runs.
test('a free port is given to one process only, also before anything listens there', async (t) => {
  const module = new URL('../src/free-port.ts', import.meta.url).href;
  const script = `
    import { freePort } from '${module}';
    for (let i = 0; i < ${PORTS}; i += 1) console.log(await freePort());
    process.stdin.resume();`;
  const asking = Array.from({ length: PROCESSES }, async () => {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    t.after(() => child.kill());
    const ports: string[] = [];
    for await (const line of createInterface(child.stdout)) if (ports.push(line) === PORTS) break;
    return ports;
  });
  const given = (await Promise.all(asking)).flat();
  assert.equal(given.length, PROCESSES * PORTS);
  assert.equal(new Set(given).size, given.length);
});

test('a free port is none of those that it is not to be', async () => {
  const all = Array.from({ length: 14_000 }, (_, nth) => 18_000 + nth);
  const few = all.slice(0, 100);
  const port = await freePort(new Set(all.slice(few.length)));
  assert.ok(few.includes(port), String(port));
});
