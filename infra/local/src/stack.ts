import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { coturnSpec, defaultTurnIp } from './coturn.ts';
import { describeEndpoints, removeEndpoints, writeEndpoints, type Endpoints } from './endpoints.ts';
import { envoySpec } from './envoy.ts';
import { signalProcess } from './identity.ts';
import { whileLocked } from './lock.ts';
import { natsSpec } from './nats.ts';
import { podSpecs } from './pods.ts';
import { freePorts, type Ports } from './ports.ts';
import { relaySpecs } from './relays.ts';
import { ensureSecrets } from './secrets.ts';
import { localhost, type Site } from './site.ts';
import { startStages } from './stages.ts';
import { readRecord, readRecords, stopProcess, type ProcessRecord } from './supervise.ts';
import { findTools } from './tools.ts';
import { webSpec } from './web.ts';

/** A stack that a test started and can disturb. */
export interface Stack {
  /** The current addresses; `restart` changes pids. */
  readonly endpoints: Endpoints;
  /** Ends everything. */
  stop(): Promise<void>;
  /** Ends the process, if it runs, and starts it again; resolves when it is healthy. */
  restart(name: string): Promise<void>;
  /** Sends a signal and does not wait for its effect. */
  kill(name: string, signal: NodeJS.Signals): void;
}

export interface StackOptions {
  /** The directory of the stack's state; two stacks need two directories. */
  readonly dir: string;
  /** Ports with fixed numbers; the others are free ones. */
  readonly ports?: Partial<Ports>;
  /** PARLEY_LIMIT_* and other settings, as `make up` reads them from its environment. */
  readonly env?: NodeJS.ProcessEnv;
  /** The relay to run instead of that of `make build`: the path of a program. */
  readonly relay?: string;
}

/** Starts a stack for a test, beside other stacks. It ends with `stop`, or with this process. */
export async function startStack({ dir, ports = {}, env = {}, relay }: StackOptions): Promise<Stack> {
  const described = describeSite(dir, await freePorts(ports), { PARLEY_TURN_IP: randomLoopback(), ...env });
  const site = relay === undefined ? described : { ...described, tools: { ...described.tools, relay } };
  const endNow = () => {
    for (const record of readRecords(site.dir)) signalProcess(record, 'SIGKILL');
  };
  process.once('exit', endNow);
  let endpoints = await bringUp(site);

  return {
    get endpoints() {
      return endpoints;
    },
    async stop() {
      await bringDown(site.dir);
      process.off('exit', endNow);
    },
    async restart(name) {
      await stopProcess(site.dir, recordOf(site.dir, name));
      endpoints = await bringUp(site);
    },
    kill(name, signal) {
      signalProcess(recordOf(site.dir, name), signal);
    },
  };
}

/** Reads or makes the secrets and collects the inputs of the processes. */
export function describeSite(dir: string, ports: Ports, env: NodeJS.ProcessEnv): Site {
  const absolute = resolve(dir);
  const edgeHost = env['PARLEY_EDGE_HOST'] ?? localhost;
  const turnIp = env['PARLEY_TURN_IP'] ?? defaultTurnIp;
  const mediaIp = env['PARLEY_MEDIA_IP'] ?? localhost;
  if (isIP(mediaIp) === 0 || !isSpecific(mediaIp))
    throw new Error(`PARLEY_MEDIA_IP is ${mediaIp}: it takes an address of this machine, which clients dial`);
  const secrets = ensureSecrets(absolute, [...new Set([edgeHost, turnIp])].filter(isSpecific));
  return { dir: absolute, ports, env, edgeHost, turnIp, mediaIp, secrets, tools: findTools() };
}

/**
 * Starts everything that does not run: first NATS, then the processes that publish leases there, the pods that receive them, and the
 * edge, which is ready when it sees all of these. On a failure, the processes that this call started are stopped again.
 */
export function bringUp(site: Site): Promise<Endpoints> {
  return whileLocked(site.dir, async () => {
    const stages = [
      [natsSpec(site)],
      [...relaySpecs(site), coturnSpec(site), webSpec(site)],
      podSpecs(site),
      [envoySpec(site)],
    ];
    const endpoints = describeEndpoints(site, await startStages(site.dir, stages));
    writeEndpoints(site.dir, endpoints);
    return endpoints;
  });
}

/** Stops what was started in this directory, the edge first, so that it sends no client to a stopped process; answers the names. */
export function bringDown(dir: string): Promise<string[]> {
  const absolute = resolve(dir);
  return whileLocked(absolute, async () => {
    const records = readRecords(absolute);
    const last = (name: string) => records.filter((record) => record.name === name);
    const between = records.filter(({ name }) => name !== 'envoy' && name !== 'nats');
    for (const stage of [last('envoy'), between, last('nats')]) {
      await Promise.all(stage.map((record) => stopProcess(absolute, record)));
    }
    removeEndpoints(absolute);
    return records.map(({ name }) => name);
  });
}

function recordOf(dir: string, name: string): ProcessRecord {
  const record = readRecord(dir, name);
  if (!record) throw new Error(`the stack has no process named ${name}`);
  return record;
}

/** Whether clients can connect to an address, rather than one that means all of the machine's. */
function isSpecific(ip: string): boolean {
  return ip !== '0.0.0.0' && ip !== '::';
}

/** An address of this machine that no other stack's TURN server uses. */
function randomLoopback(): string {
  const byte = () => 1 + Math.floor(Math.random() * 254);
  return `127.78.${byte()}.${byte()}`;
}
