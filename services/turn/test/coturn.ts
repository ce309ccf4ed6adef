import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { probeStun } from '../src/probe.ts';
import { renderTurnserver, type TurnSettings } from '../src/render.ts';

const readyTimeoutMs = 10_000;

/** A node on one machine. Its loopback address is its own, so that its ports are too. */
export const exampleSettings: TurnSettings = {
  listeningIps: ['127.76.0.1'],
  relayIps: ['127.76.0.1'],
  externalIps: [],
  port: 3478,
  tlsPort: 5349,
  minPort: 49_160,
  maxPort: 49_960,
  tlsCertFile: '/nonexistent/cert.pem',
  tlsKeyFile: '/nonexistent/key.pem',
  realm: 'parley.test',
  secret: 'a-secret-of-this-test-only',
  meshParticipants: 4,
  networkAllocations: 100,
  turnNodeIps: ['127.76.0.1'],
  allowLoopbackPeers: true,
  stateDir: '/nonexistent',
};

/** Runs the real coturn with these settings, changed where a test needs it; answers how to stop it. */
export async function startCoturn(
  settings: TurnSettings,
  change: (config: string) => string = (config) => config,
): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), 'parley-turn-'));
  const config = join(dir, 'turnserver.conf');
  writeFileSync(config, change(renderTurnserver({ ...settings, stateDir: dir })), { mode: 0o600 });
  const child = spawn('turnserver', ['-c', config], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  await Promise.race([
    probeStun(settings.listeningIps[0] ?? '', settings.port, readyTimeoutMs),
    exited.then(([code]) => {
      throw new Error(`coturn ended with exit code ${String(code)}`);
    }),
  ]);
  return async () => {
    child.kill();
    await exited;
    rmSync(dir, { recursive: true, force: true });
  };
}
