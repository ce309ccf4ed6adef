/** The agent as a process, with the real coturn. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const secret = 'a-secret-of-this-test-only';
export const base = {
  PARLEY_TURN_NODE: 'node-a',
  PARLEY_TURN_NODE_IP: '127.76.0.9',
  PARLEY_TURN_SECRET: secret,
  PARLEY_TURN_TLS_CERT: '/nonexistent/cert.pem',
  PARLEY_TURN_TLS_KEY: '/nonexistent/key.pem',
};

/** Below the ports that Linux gives to outgoing connections: those are UDP sockets too. */
const firstPort = 28_000;
const startTimeoutMs = 10_000;

/** Runs the agent with the real coturn, which ends with the test; waits until it is ready, or as the caller says. Each needs an `ip` of its own. */
export async function startAgent(
  t: TestContext,
  ip: string,
  more: NodeJS.ProcessEnv = {},
  waitsFor: 'readyz' | 'healthz' | null = 'readyz',
) {
  const dir = mkdtempSync(join(tmpdir(), 'parley-agent-'));
  const offset = Number(ip.split('.').at(-1)) * 100;
  const [port, healthPort] = [firstPort + offset, firstPort + offset + 1];
  const env = {
    ...base,
    PATH: process.env['PATH'],
    PARLEY_TURN_NODE_IP: ip,
    PARLEY_TURN_PORT: String(port),
    PARLEY_TURN_TLS_PORT: String(port + 2),
    PARLEY_TURN_HEALTH_PORT: String(healthPort),
    PARLEY_TURN_MIN_PORT: String(port + 10),
    PARLEY_TURN_MAX_PORT: String(port + 60),
    PARLEY_TURN_STATE_DIR: dir,
    ...more,
  };
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  t.after(async () => {
    const again = setInterval(() => child.kill('SIGTERM'), 100);
    // Asked for the second time it does not wait for calls.
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    clearInterval(again);
    rmSync(dir, { recursive: true, force: true });
  });
  const url = `http://${ip}:${healthPort}`;
  if (waitsFor) await until(async () => (await fetch(`${url}/${waitsFor}`)).status === 200);
  const coturnPid = (): number => Number(readFileSync(join(dir, 'turnserver.pid'), 'utf8'));
  /** What the agent and coturn wrote. */
  const log = (): string => output;
  return { ip, port, url, child, dir, coturnPid, log };
}

export async function textOf(url: string): Promise<string> {
  return (await fetch(url)).text();
}

export async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + startTimeoutMs;
  while (!(await holds().catch(() => false))) {
    if (Date.now() > deadline) throw new Error('it did not come to pass');
    await pause(50);
  }
}
