/**
 * Links between regions: one `wan-link` process for each pair, with the delay of such a distance. A cut drops every packet, so connections over it hang
 * as they do in a real one; the devices stay, and no end is reset.
 */
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessSpec } from '@parley/local/supervise';
import { ip } from './namespaces.ts';
import { addressOf, namespaceOf, type Place, type RegionName, type Site } from './site.ts';

export interface Link {
  readonly ends: readonly [RegionName, RegionName];
  /** Of a packet, one way. */
  readonly delayMs: number;
}

/** As between Frankfurt, Virginia and Tokyo or Singapore. */
export const links: readonly Link[] = [
  { ends: ['eu', 'us'], delayMs: 45 },
  { ends: ['eu', 'ap'], delayMs: 75 },
  { ends: ['us', 'ap'], delayMs: 80 },
];

export function linkSpec(site: Site, { ends: [a, b], delayMs }: Link): ProcessSpec {
  const end = (here: RegionName, there: RegionName): string =>
    `${namespaceOf(site, here)},${there},${addressOf(here)}/32`;
  // It ends with its stdin, which a pipe with a name that it has open for writing too never does.
  const script = 'rm -f "$0" && mkfifo -m 600 "$0" && exec "$@" <> "$0"';
  const flags = ['--a', end(a, b), '--b', end(b, a), '--delay', `${delayMs}ms`, '--seed', '7'];
  return {
    name: nameOf([a, b]),
    command: 'sh',
    args: ['-c', script, controlOf(site, [a, b]), site.wanLink, ...flags],
    env: {},
    files: [],
    ports: [],
    url: `${addressOf(a)} to ${addressOf(b)}, ${2 * delayMs} ms there and back`,
    ready: async () => {
      for (const [here, there] of [
        [a, b],
        [b, a],
      ] as const)
        ip(`-n ${namespaceOf(site, here)} route replace ${addressOf(there)}/32 dev ${there}`);
    },
  };
}

/** Round trip, in milliseconds; 0 within a region. */
export function roundTripMs(a: RegionName, b: RegionName): number {
  if (a === b) return 0;
  const [link] = between(a, b);
  return link === undefined ? 0 : 2 * link.delayMs;
}

/** From now on no packet gets through, between the two or between one and all others. */
export function cut(place: Place, a: RegionName, b?: RegionName): void {
  for (const link of between(a, b)) lose(place, link, [1, 1]);
}

/** From now on none gets from the one to the other, or from the one to all others; the other direction works. */
export function cutOneWay(place: Place, from: RegionName, to?: RegionName): void {
  for (const link of between(from, to)) lose(place, link, link.ends[0] === from ? [1, 0] : [0, 1]);
}

/** Every packet gets through again, at once: between the two, between one and all others, or everywhere. */
export function heal(place: Place, a?: RegionName, b?: RegionName): void {
  for (const link of between(a, b)) change(place, link, ['loss 0', 'rate none']);
}

/** All links carry so little, and lose so many packets: a share of 1. */
export function slow(place: Place, { rate, loss }: { readonly rate: string; readonly loss: number }): void {
  for (const link of links) change(place, link, [`loss ${loss}`, `rate ${rate}`]);
}

/** From now on packets between the two take so long, one way. */
export function setDelay(place: Place, [a, b]: Link['ends'], delayMs: number): void {
  for (const link of between(a, b)) change(place, link, [`delay ${delayMs}ms`]);
}

/** Bytes of all packets that one region gave to its link to another, since the link began. */
export function sentBytes(place: Place, from: RegionName, to: RegionName): number {
  const [device] = JSON.parse(ip(`-n ${namespaceOf(place, from)} -s -j link show dev ${to}`)) as Device[];
  if (device === undefined) throw new Error(`there is no link from ${from} to ${to}`);
  return device.stats64.tx.bytes;
}

/** What `ip -s -j link` writes of a device. */
interface Device {
  readonly stats64: { readonly tx: { readonly bytes: number } };
}

const between = (a?: RegionName, b?: RegionName): Link[] =>
  links.filter(({ ends }) => (a === undefined || ends.includes(a)) && (b === undefined || ends.includes(b)));

function lose(place: Place, link: Link, [there, back]: readonly [number, number]): void {
  change(place, link, [`loss ${there},${back}`]);
}

function change(place: Place, { ends }: Link, settings: readonly string[]): void {
  const control = openControl(controlOf(place, ends));
  try {
    writeSync(control, settings.map((setting) => `${setting}\n`).join(''));
  } finally {
    closeSync(control);
  }
}

/** Without a reader this fails instead of waiting for one. */
function openControl(path: string): number {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (cause) {
    throw new Error('there is no link: `make regions` starts them', { cause });
  }
}

const nameOf = ([a, b]: Link['ends']): string => `link-${a}-${b}`;

const controlOf = ({ dir }: Place, ends: Link['ends']): string => join(dir, `${nameOf(ends)}.control`);
