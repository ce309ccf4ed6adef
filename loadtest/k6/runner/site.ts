/** A Parley of the herd's own: what `make up` starts, and a second edge, as one process cannot hold ten thousand WebSockets. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { envoySpec } from '@parley/local/envoy';
import { hasEnded, identify, signalProcess } from '@parley/local/identity';
import { freePorts } from '@parley/local/ports';
import { describeSite, startStack } from '@parley/local/stack';
import { ensureRunning, readRecord, stopProcess } from '@parley/local/supervise';
import type { StormProfile } from '../profiles/storm.ts';
import type { Meter } from './meter.ts';

export interface StormSite {
  /** The edges. */
  readonly edges: readonly string[];
  readonly pods: readonly string[];
  /** Lets happen what the profile says; resolves when it is over. */
  readonly disturb: (event: StormProfile['event']) => Promise<void>;
  stop(): Promise<void>;
}

const PODS = ['signaling-1', 'signaling-2'];
/** As long as Kubernetes gives a pod by default. */
const POD_ENDS_WITHIN_MS = 30_000;
/** A region without an edge: a balancer or a machine starts again. */
const EDGES_GONE_MS = 2000;

export async function startSite(
  dir: string,
  env: Readonly<Record<string, string>>,
  meter: Meter,
): Promise<StormSite> {
  const ports = await freePorts({});
  const stack = await startStack({ dir, ports, env });
  const second = await startSecondEdge(dir, { ports, env });
  const pidOf = (name: string): number => stack.endpoints.processes[name]?.pid ?? Number.NaN;
  const meet = (): void => {
    for (const pod of PODS) meter.add('pods', pidOf(pod));
    meter.add('NATS', pidOf('nats'));
    meter.add('Envoy', pidOf('envoy'));
    meter.add('Envoy', second.pid);
  };
  meet();
  const ended = async (name: string): Promise<void> => {
    const process = identify(pidOf(name));
    stack.kill(name, 'SIGTERM');
    if (process !== undefined && !(await hasEnded(process, POD_ENDS_WITHIN_MS)))
      throw new Error(`${name} has not drained after ${POD_ENDS_WITHIN_MS} ms`);
  };
  return {
    edges: [stack.endpoints.processes['envoy']?.url ?? '', second.url],
    pods: stack.endpoints.pods,
    async disturb(event) {
      if (event === 'pod-killed') stack.kill(PODS[0] ?? '', 'SIGKILL');
      if (event === 'pods-rolled') {
        for (const pod of PODS) {
          await ended(pod);
          await stack.restart(pod);
          meet();
          await second.whenReady();
        }
      }
      if (event === 'edges-killed') {
        stack.kill('envoy', 'SIGKILL');
        second.kill();
        await delay(EDGES_GONE_MS);
        await Promise.all([stack.restart('envoy'), second.restart()]);
        meet();
      }
    },
    async stop() {
      await second.stop();
      await stack.stop();
    },
  };
}

interface SecondEdge {
  readonly url: string;
  readonly pid: number;
  kill(): void;
  whenReady(): Promise<unknown>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The same configuration on other ports, with a directory to itself. */
async function startSecondEdge(
  stackDir: string,
  { ports, env }: { ports: Awaited<ReturnType<typeof freePorts>>; env: Readonly<Record<string, string>> },
): Promise<SecondEdge> {
  const dir = join(stackDir, 'edge-2');
  mkdirSync(dir, { recursive: true });
  const { edge, edgeTls, edgeAdmin } = await freePorts({});
  const spec = envoySpec(describeSite(dir, { ...ports, edge, edgeTls, edgeAdmin }, env));
  let { record } = await ensureRunning(dir, spec);
  const kill = (): void => void signalProcess(record, 'SIGKILL');
  process.once('exit', kill);
  return {
    url: spec.url,
    get pid() {
      return record.pid;
    },
    kill,
    whenReady: () => ensureRunning(dir, spec),
    async restart() {
      await hasEnded(record, POD_ENDS_WITHIN_MS);
      ({ record } = await ensureRunning(dir, spec));
    },
    async stop() {
      process.off('exit', kill);
      const kept = readRecord(dir, spec.name);
      if (kept !== undefined) await stopProcess(dir, kept);
    },
  };
}
