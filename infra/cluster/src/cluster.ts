import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasEnded, isAlive, signalProcess } from '@parley/local/identity';
import { whileLocked } from '@parley/local/lock';
import {
  ensureRunning,
  readRecord,
  readRecords,
  stopProcess,
  type ProcessRecord,
  type ProcessSpec,
} from '@parley/local/supervise';
import { unmountLayers } from './buildah.ts';
import { ensureCertificates } from './certificates.ts';
import { makePeople, removePeople } from './cgroups.ts';
import { apiServerSpecs, controllerSpecs, registrySpec } from './control-plane.ts';
import { buildImages, pushImages } from './images.ts';
import { nodes, type Lab, type Node } from './lab.ts';
import { ensureNetwork, removeNetwork } from './network.ts';
import { firstProcess, makeCgroups, nodeSpec, removeCgroups } from './node.ts';
import { surroundingSpecs } from './surroundings.ts';
import { ensureSystem } from './system.ts';

/** Runs a step and logs its name and duration. */
export type Stage = <Result>(name: string, work: () => Result | Promise<Result>) => Promise<Result>;

// The containers of a killed node end one after the other.
const powerOffWithinMs = 30_000;
const endWithinMs = 10_000;

/** Starts what does not run: the network, the control plane, the registry with all images, three nodes, DNS. */
export function bringUp(lab: Lab, stage: Stage): Promise<void> {
  return whileLocked(lab.dir, async () => {
    await stage('network', ensureNetwork);
    await stage('certificates', () => ensureCertificates(lab));
    await Promise.all([
      stage('control plane', () => startControlPlane(lab)),
      stage('images built', () => buildImages(lab)).then(async (images) => {
        await ensureRunning(lab.dir, registrySpec(lab));
        await stage('images pushed', () => pushImages(lab, images));
      }),
    ]);
    await stage('nodes ready', () => Promise.all(nodes.map((node) => powerOn(lab, node))));
    makePeople();
    await stage('policies and load balancer', () => start(lab, surroundingSpecs(lab)));
    await stage('DNS and volumes', () => ensureSystem(lab));
  });
}

/** Ends what `bringUp` started and removes its namespaces; keys and images stay. Answers the names of the ended processes. */
export function bringDown(lab: Lab): Promise<string[]> {
  return whileLocked(lab.dir, async () => {
    const running = readRecords(lab.dir).map(({ name }) => name);
    // None of their pending writes are needed, and a graceful stop of the API server takes a minute.
    await Promise.all(nodes.map((node) => powerOff(lab, node)));
    await Promise.all(readRecords(lab.dir).map((record) => killProcess(lab, record)));
    for (const node of nodes) removeCgroups(node);
    removePeople();
    removeNetwork();
    await unmountLayers(lab);
    const made = [...nodes.map(({ name }) => name), 'etcd', 'volumes', 'earlier', 'noticed.json'];
    await Promise.all(made.map((name) => rm(join(lab.dir, name), { recursive: true, force: true })));
    return running;
  });
}

/** Starts the node if it does not run; resolves when it is ready. */
export async function powerOn(lab: Lab, node: Node): Promise<void> {
  const record = readRecord(lab.dir, node.name);
  if (!record || !isAlive(record)) makeCgroups(node);
  await ensureRunning(lab.dir, nodeSpec(lab, node));
}

/** Cuts the node's power: its processes end at once, without notice to their peers. */
export async function powerOff(lab: Lab, node: Node): Promise<void> {
  const record = readRecord(lab.dir, node.name);
  if (!record) return;
  const first = firstProcess(lab, node);
  signalProcess(record, 'SIGKILL');
  if (first && !(await hasEnded(first, powerOffWithinMs))) throw new Error(`${node.name} does not end`);
  await stopProcess(lab.dir, record);
}

async function killProcess(lab: Lab, record: ProcessRecord): Promise<void> {
  signalProcess(record, 'SIGKILL');
  await hasEnded(record, endWithinMs);
  await stopProcess(lab.dir, record);
}

async function startControlPlane(lab: Lab): Promise<void> {
  await start(lab, apiServerSpecs(lab));
  await start(lab, controllerSpecs(lab));
}

async function start(lab: Lab, specs: readonly ProcessSpec[]): Promise<void> {
  await Promise.all(specs.map((spec) => ensureRunning(lab.dir, spec)));
}
