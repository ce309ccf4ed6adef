import { networkInterfaces } from 'node:os';
import { signalProcess } from '@parley/local/identity';
import { whileLocked } from '@parley/local/lock';
import { startStages } from '@parley/local/stages';
import { readRecord, readRecords, stopProcess, type ProcessRecord } from '@parley/local/supervise';
import { deleteClients, ensureClients, plugClients, unplugClients } from './clients.ts';
import { edgeSpecs } from './edge.ts';
import { cut, cutOneWay, heal, links, linkSpec, sentBytes, setDelay, slow } from './links.ts';
import { deleteNamespaces, ensureNamespaces, plug, unplug } from './namespaces.ts';
import { gatewaySpecs, serverSpecs } from './nats.ts';
import { podSpecs, podUrl, type PodNumber } from './pods.ts';
import { mediaOf, relaySpecs, relayUrl, type MediaAddress, type RelayNumber } from './relays.ts';
import {
  describeSite,
  edgeUrl,
  inside,
  namespaceOf,
  plainEdgeUrl,
  regionNames,
  type Inside,
  type Place,
  type RegionName,
  type Site,
  type SiteOptions,
} from './site.ts';

const ASKED_MS = 2000;

/** Three regions that a test started and can disturb. */
export interface Regions {
  /** The directory of their state. */
  readonly dir: string;
  /** The key set of its pods. */
  keysFile(region: RegionName): string;
  /** Where this machine reaches a pod. */
  pod(region: RegionName, pod: PodNumber): string;
  /** Where this machine reaches the metrics of a relay. */
  relay(region: RegionName, relay: RelayNumber): string;
  /** Where browsers open it, in the region and on this machine. */
  edge(region: RegionName): string;
  /** The same without TLS, for terminals. */
  plainEdge(region: RegionName): string;
  /** Where all regions reach the media of a relay. */
  media(region: RegionName, relay: RelayNumber): MediaAddress;
  /** The name of the network namespace. */
  namespace(region: RegionName): string;
  /** All processes. */
  pids(): number[];
  /** The beginning of a command that runs another one there. The clients are there where edges are. */
  inside(where: Inside): readonly [string, string];
  /** As in links.ts. */
  cut(a: RegionName, b?: RegionName): void;
  cutOneWay(from: RegionName, to?: RegionName): void;
  slow(how: { readonly rate: string; readonly loss: number }): void;
  heal(): void;
  /** Of a packet, one way; the tables of links.ts keep theirs. */
  setDelay(a: RegionName, b: RegionName, delayMs: number): void;
  sentBytes(from: RegionName, to: RegionName): number;
  /** As in namespaces.ts: between this machine, with the clients, and the region. */
  unplug(region: RegionName): void;
  plug(region: RegionName): void;
  /** What the monitoring port of a NATS server answers, as `gatewayz`. */
  ask(server: string, what: string): Promise<unknown>;
  /** Sends a signal and does not wait for its effect. */
  kill(name: string, signal: NodeJS.Signals): void;
  /** Starts what does not run. */
  repair(): Promise<void>;
  /** Ends everything. */
  stop(): Promise<void>;
}

/** Starts three regions beside others. They end with `stop`, or with this process. */
export async function startRegions(
  dir: string,
  env: NodeJS.ProcessEnv = {},
  options: SiteOptions = {},
): Promise<Regions> {
  const site = describeSite({ dir, name: `rg${process.pid}`, network: freeNetwork() }, env, options);
  const endNow = (): void => {
    for (const record of readRecords(site.dir)) signalProcess(record, 'SIGKILL');
    deleteClients(site);
    deleteNamespaces(site);
  };
  process.once('exit', endNow);
  // Otherwise a signal that ends a test leaves its regions running.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const recordOf = (name: string): ProcessRecord => {
    const record = readRecord(site.dir, name);
    if (record === undefined) throw new Error(`no process is named ${name}`);
    return record;
  };
  await bringUp(site);
  return {
    dir: site.dir,
    keysFile: (region) => site.keys.files[region],
    pod: (region, pod) => podUrl(site, region, pod),
    relay: (region, relay) => relayUrl(site, region, relay),
    edge: (region) => edgeUrl(site, region),
    plainEdge: (region) => plainEdgeUrl(site, region),
    media: (region, relay) => mediaOf(site, region, relay),
    namespace: (region) => namespaceOf(site, region),
    pids: () => readRecords(site.dir).map(({ pid }) => pid),
    inside: (where) => inside(site, where),
    cut: (a, b) => cut(site, a, b),
    cutOneWay: (from, to) => cutOneWay(site, from, to),
    slow: (how) => slow(site, how),
    heal: () => heal(site),
    setDelay: (a, b, delayMs) => setDelay(site, [a, b], delayMs),
    sentBytes: (from, to) => sentBytes(site, from, to),
    unplug(region) {
      unplug(site, region);
      unplugClients(site, region);
    },
    plug(region) {
      plug(site, region);
      plugClients(site, region);
    },
    async ask(server, what) {
      const answer = await fetch(`${recordOf(server).url}/${what}`, {
        signal: AbortSignal.timeout(ASKED_MS),
      });
      return answer.json();
    },
    kill: (name, signal) => void signalProcess(recordOf(name), signal),
    repair: async () => void (await bringUp(site)),
    async stop() {
      await bringDown(site);
      process.off('exit', endNow);
    },
  };
}

/** Makes the namespaces and starts what does not run: the links first, then NATS, then the relays and the pods, then edges. */
export function bringUp(site: Site): Promise<ProcessRecord[]> {
  return whileLocked(site.dir, async () => {
    ensureNamespaces(site);
    if (site.hasEdges) ensureClients(site);
    return startStages(site.dir, [
      links.map((link) => linkSpec(site, link)),
      regionNames.flatMap((region) => [...serverSpecs(site, region), ...gatewaySpecs(site, region)]),
      regionNames.flatMap((region) => [
        ...relaySpecs(site, region),
        ...(site.hasPods ? podSpecs(site, region) : []),
      ]),
      site.hasEdges ? regionNames.flatMap((region) => edgeSpecs(site, region)) : [],
    ]);
  });
}

/** Stops what was started in this directory, pods, relays and edges first, and deletes the namespaces; answers the names. */
export function bringDown(place: Place): Promise<string[]> {
  const { dir } = place;
  return whileLocked(dir, async () => {
    const records = readRecords(dir);
    const isPod = ({ name }: ProcessRecord): boolean => /-(?:signaling-|relay-|envoy|web)/.test(name);
    for (const stage of [records.filter(isPod), records.filter((record) => !isPod(record))])
      await Promise.all(stage.map((record) => stopProcess(dir, record)));
    deleteClients(place);
    deleteNamespaces(place);
    return records.map(({ name }) => name);
  });
}

/** A network in which this machine has no address. Zero is that of `make regions`. */
function freeNetwork(): number {
  const taken = Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.map(({ address }) => address),
  );
  for (let tried = 0; tried < 255; tried += 1) {
    const network = 1 + ((process.pid + tried) % 255);
    const prefix = `198.19.${network}.`;
    if (!taken.some((address) => address.startsWith(prefix))) return network;
  }
  throw new Error('this machine has an address in every network from 198.19.1.0 to 198.19.255.0');
}
