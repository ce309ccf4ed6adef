/**
 * A network namespace for each region, with one cable to this machine, which is for clients and tests and has no delay. Regions reach each other over
 * links only: none of them has a route to another by this machine.
 */
import { execFileSync } from 'node:child_process';
import { entryOf, namespaceOf, regionNames, type RegionName, type Place } from './site.ts';

/** The end of the cable in a region. */
const DEVICE = 'machine';
/** A locally administered address that no device has. */
const NO_CARD = '02:00:00:00:00:01';

/** Makes those that are missing. Root is needed. */
export function ensureNamespaces(place: Place): void {
  if (process.getuid?.() !== 0) throw new Error('regions are network namespaces: run this as root');
  for (const region of regionNames) {
    const name = namespaceOf(place, region);
    if (hasAddress(name, DEVICE, entryOf(place, region).region)) continue;
    deleteNamespace(name);
    make(place, region);
  }
}

export function deleteNamespaces(place: Place): void {
  for (const region of regionNames) deleteNamespace(namespaceOf(place, region));
}

/** Runs `ip`; throws what it complains of. */
export function ip(command: string): string {
  return execFileSync('ip', command.split(' '), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** The two ends of a cable. A namespace that is not named is that of this machine. */
export interface Cable {
  readonly here: CableEnd;
  readonly there: CableEnd;
}
interface CableEnd {
  readonly namespace?: string;
  readonly device: string;
  readonly address: string;
}

/** Nothing gets over the cable between this machine and the region any more, in either direction, and nothing is reset. */
export const unplug = (place: Place, region: RegionName): void => unplugCable(cableOf(place, region));

export const plug = (place: Place, region: RegionName): void => plugCable(cableOf(place, region));

/** Each end sends to a network card that does not exist. */
export function unplugCable(cable: Cable): void {
  eachEnd(cable, (end, other) =>
    ip(`${within(end)}neigh replace ${other.address} lladdr ${NO_CARD} dev ${end.device} nud permanent`),
  );
}

export function plugCable(cable: Cable): void {
  eachEnd(cable, (end, other) =>
    ip(`${within(end)}neigh flush to ${other.address} dev ${end.device} nud all`),
  );
}

function eachEnd({ here, there }: Cable, change: (end: CableEnd, other: CableEnd) => void): void {
  change(here, there);
  change(there, here);
}

const within = ({ namespace }: CableEnd): string => (namespace === undefined ? '' : `-n ${namespace} `);

function cableOf(place: Place, region: RegionName): Cable {
  const [name, entry] = [namespaceOf(place, region), entryOf(place, region)];
  return {
    here: { device: name, address: entry.machine },
    there: { namespace: name, device: DEVICE, address: entry.region },
  };
}

function make(place: Place, region: RegionName): void {
  const [name, entry] = [namespaceOf(place, region), entryOf(place, region)];
  ip(`netns add ${name}`);
  ip(`-n ${name} link set lo up`);
  ip(`link add ${name} type veth peer name ${DEVICE} netns ${name}`);
  ip(`addr add ${entry.machine}/30 dev ${name}`);
  ip(`link set ${name} up`);
  ip(`-n ${name} addr add ${entry.region}/30 dev ${DEVICE}`);
  ip(`-n ${name} link set ${DEVICE} up`);
}

export function hasAddress(namespace: string, device: string, address: string): boolean {
  try {
    return ip(`-n ${namespace} addr show dev ${device}`).includes(address);
  } catch {
    return false;
  }
}

/** With the devices that have its name. */
export function deleteNamespace(name: string): void {
  for (const command of [`link del ${name}`, `netns del ${name}`]) {
    try {
      ip(command);
    } catch {
      // It was never made.
    }
  }
}
