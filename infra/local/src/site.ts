import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Ports } from './ports.ts';
import { inRepository } from './repository.ts';
import type { Secrets } from './secrets.ts';
import type { Tools } from './tools.ts';

/** The inputs from which the processes of one local stack are configured. */
export interface Site {
  /** The directory of the stack's state; absolute. */
  readonly dir: string;
  readonly ports: Ports;
  readonly secrets: Secrets;
  readonly tools: Tools;
  /** The address that the edge listens on: reachable from this machine only, or from others. */
  readonly edgeHost: string;
  /** The address that coturn listens on and relays from. */
  readonly turnIp: string;
  /** The address that the relays listen on for media over UDP, and that clients receive. */
  readonly mediaIp: string;
  /** The settings from the caller's environment: PARLEY_LIMIT_*, PARLEY_LOG_LEVEL and the like. */
  readonly env: NodeJS.ProcessEnv;
}

export const localhost = '127.0.0.1';

/** An address as URLs have it: one of IPv6 in brackets. */
export function inUrl(address: string): string {
  return isIPv6(address) ? `[${address}]` : address;
}

/** The address at which this machine reaches a process that listens on `address`, which may mean all of the machine's. */
export function reachable(address: string): string {
  return address === '0.0.0.0' || address === '::' ? localhost : address;
}

// A probe is repeated until the start-up timeout; one that hangs must not use up that time.
const probeTimeoutMs = 2000;

/** A configuration template that the Helm chart uses too. */
export function readChartFile(name: string): string {
  return readFileSync(inRepository(`charts/parley/files/${name}`), 'utf8');
}

/** The settings in the caller's environment with names like these. */
export function settingsLike(names: RegExp, { env }: Pick<Site, 'env'>): Record<string, string> {
  const made = Object.entries(env).filter(([name]) => names.test(name));
  return Object.fromEntries(made.map(([name, value]) => [name, value ?? '']));
}

/** Resolves when a GET there answers 200. */
export function answersOk(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // A new connection each time: a kept one would reach the previous process.
    const asked = request(url, { agent: false, timeout: probeTimeoutMs }, (response) => {
      response.resume();
      if (response.statusCode === 200) resolve();
      else reject(new Error(`${url} answers ${response.statusCode}`));
    });
    asked.once('timeout', () => asked.destroy(new Error(`${url} does not answer`)));
    asked.once('error', reject);
    asked.end();
  });
}
