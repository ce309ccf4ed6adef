import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LogBudget } from '../log-budget.ts';
import { renderTurnserver } from '../render.ts';
import type { NodeAddress } from './address.ts';
import { countAllocations } from './allocations.ts';
import { log } from './log.ts';
import type { Settings } from './settings.ts';

// A call that ends frees its allocation within seconds, and no client waits for this check.
const CHECK_INTERVAL_MS = 1000;
// Clients that were offered this node just before its lease was withdrawn may still arrive.
const LINGER_MS = 3000;
// A certificate is renewed weeks before it expires.
const CERTIFICATE_INTERVAL_MS = 60_000;

export interface Coturn {
  /** The exit code, once coturn has ended; 1 where a signal ended it. */
  readonly ended: Promise<number>;
  /** Relay ports in use, each of which is an allocation. */
  allocations(): number;
  /** Lines of coturn's log that were dropped. */
  suppressedLines(): number;
  isDraining(): boolean;
  /**
   * Ends coturn when its allocations are gone: not before the last clients that were offered it have arrived, and at the latest after `drainSeconds`.
   */
  drain(): void;
  end(): void;
}

export function startCoturn(settings: Settings, addresses: readonly NodeAddress[]): Coturn {
  const config = join(settings.stateDir, 'turnserver.conf');
  mkdirSync(settings.stateDir, { recursive: true });
  writeFileSync(config, render(settings, addresses), { mode: 0o600 });
  const child = spawn(settings.turnserver, ['-c', config], { stdio: ['ignore', 'pipe', 'pipe'] });
  const budget = new LogBudget({
    write: (line) => process.stdout.write(`${line}\n`),
    report: (lines) => log('lines of coturn suppressed', { lines }),
  });
  // The output is read without a pause, as coturn blocks while it is not read.
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => budget.push(chunk));
  const ended = new Promise<number>((resolve) => {
    child.once('error', (error) => {
      log('coturn could not be started', { error: error.message });
      resolve(1);
    });
    child.once('exit', (code) => resolve(code ?? 1));
  });

  let certificate = digest(settings);
  const rereading = setInterval(() => {
    const now = digest(settings);
    if (now === certificate) return;
    certificate = now;
    log('certificate replaced');
    child.kill('SIGUSR2');
  }, CERTIFICATE_INTERVAL_MS);
  void ended.then(() => {
    clearInterval(rereading);
    budget.end();
  });

  let draining: NodeJS.Timeout | undefined;
  const allocations = (): number => countAllocations(settings.minPort, settings.maxPort);
  const end = (): void => void child.kill('SIGTERM');
  return {
    ended,
    allocations,
    suppressedLines: () => budget.suppressed,
    end,
    isDraining: () => draining !== undefined,
    drain() {
      const since = Date.now();
      draining = setInterval(() => {
        const waited = Date.now() - since;
        const isNeeded = waited < LINGER_MS || allocations() > 0;
        if (isNeeded && waited < settings.drainSeconds * 1000) return;
        clearInterval(draining);
        end();
      }, CHECK_INTERVAL_MS);
      void ended.then(() => clearInterval(draining));
    },
  };
}

function render(settings: Settings, addresses: readonly NodeAddress[]): string {
  const own = addresses.map((address) => address.own);
  const translated = addresses.filter((address) => address.public !== address.own);
  return renderTurnserver({
    listeningIps: own,
    relayIps: own,
    externalIps: translated.map((address) => `${address.public}/${address.own}`),
    port: settings.port,
    tlsPort: settings.tlsPort,
    minPort: settings.minPort,
    maxPort: settings.maxPort,
    tlsCertFile: settings.tlsCert,
    tlsKeyFile: settings.tlsKey,
    realm: settings.realm,
    secret: settings.secret,
    meshParticipants: settings.meshParticipants,
    networkAllocations: settings.networkAllocations,
    turnNodeIps: [
      ...new Set([...addresses.map((address) => address.public), ...own, ...settings.nodeAddresses]),
    ],
    deniedPeers: settings.deniedPeers,
    allowLoopbackPeers: false,
    stateDir: settings.stateDir,
  });
}

/** Undefined while the files are being replaced. */
function digest({ tlsCert, tlsKey }: Settings): string | undefined {
  try {
    return createHash('sha256').update(readFileSync(tlsCert)).update(readFileSync(tlsKey)).digest('hex');
  } catch {
    return undefined;
  }
}
