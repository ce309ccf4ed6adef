import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readIfThere, writePrivate } from '@parley/local/files';
import { inRepository } from '@parley/local/repository';
import { build, listImages } from './buildah.ts';
import type { Lab } from './lab.ts';
import { run } from './run.ts';

/**
 * Public images made from Debian's packages and from the tools that tools.sh fetched, under the names that Dockerfiles and the chart
 * use, so that neither depends on the lab.
 */
interface StandIn {
  readonly tag: string;
  /** The name of its Dockerfile in `images`. */
  readonly recipe: string;
  /** Its sources; images/contexts.sh makes the build context. */
  readonly context: string;
  readonly made?: 'debian' | 'pause';
  readonly args?: Readonly<Record<string, string>>;
  /** A file of the context that changes. */
  readonly program?: string;
  /** Made only where it is asked for by name, as its tool is fetched for nothing else. */
  readonly onDemand?: boolean;
}

const debian = 'docker.io/library/debian:bookworm-slim';
const contextsScript = inRepository('infra/cluster/images/contexts.sh');

export const k6Image = ({ versions }: Lab): string => `docker.io/grafana/k6:${versions['K6_VERSION']}`;

function standIns(lab: Lab): StandIn[] {
  const { versions, imagesDir } = lab;
  const node = `docker.io/library/node:${versions['NODE_VERSION']}-bookworm-slim`;
  return [
    {
      tag: debian,
      recipe: 'debian',
      context: join(imagesDir, 'contexts/debian'),
      made: 'debian',
    },
    {
      tag: node,
      recipe: 'node',
      context: lab.toolDir('node', 'NODE_VERSION'),
    },
    {
      tag: 'docker.io/coturn/coturn:4.18-debian',
      recipe: 'coturn',
      context: inRepository('infra/cluster/images'),
    },
    {
      tag: `docker.io/library/nats:${versions['NATS_VERSION']}-alpine`,
      recipe: 'nats',
      context: lab.toolDir('nats-server', 'NATS_VERSION'),
    },
    {
      tag: 'docker.io/natsio/prometheus-nats-exporter:0.20.1',
      recipe: 'nats-exporter',
      context: inRepository('infra/cluster/images'),
      args: { NODE_IMAGE: node },
      program: 'nats-exporter.ts',
    },
    {
      tag: `docker.io/envoyproxy/envoy:v${versions['ENVOY_VERSION']}`,
      recipe: 'envoy',
      context: lab.toolDir('envoy', 'ENVOY_VERSION'),
    },
    {
      tag: `registry.k8s.io/coredns/coredns:v${versions['COREDNS_VERSION']}`,
      recipe: 'coredns',
      context: lab.toolDir('coredns', 'COREDNS_VERSION'),
    },
    {
      tag: 'registry.k8s.io/pause:3.10',
      recipe: 'pause',
      context: join(imagesDir, 'contexts/pause'),
      made: 'pause',
    },
    {
      tag: k6Image(lab),
      recipe: 'k6',
      context: lab.toolDir('k6', 'K6_VERSION'),
      onDemand: true,
    },
  ];
}

/** Makes those that are missing or out of date; answers their names. With `only`, of these names alone. */
export async function ensureStandIns(lab: Lab, only?: readonly string[]): Promise<string[]> {
  const wanted = standIns(lab).filter(({ tag, onDemand = false }) => only?.includes(tag) ?? !onDemand);
  const made = new Map(Object.entries(readMade(lab)));
  const there = await listImages(lab);
  for (const standIn of wanted) {
    const { tag, recipe, context, args = {} } = standIn;
    const dockerfile = inRepository(`infra/cluster/images/${recipe}.Dockerfile`);
    const fingerprint = fingerprintOf(standIn, readFileSync(dockerfile, 'utf8'), made.get(debian) ?? '');
    if (there.has(tag) && made.get(tag) === fingerprint) continue;
    if (standIn.made) await run([contextsScript, standIn.made, context]);
    await build(lab, { tag, dockerfile, context, args });
    made.set(tag, fingerprint);
    writePrivate(madeFile(lab), JSON.stringify(Object.fromEntries(made), null, 2));
  }
  return wanted.map(({ tag }) => tag);
}

/** A hash of everything that an image is made from, independent of the paths of clone and cache: a tool's directory is named by its version. */
function fingerprintOf({ context, made, args, program }: StandIn, dockerfile: string, base: string): string {
  const parts = [dockerfile, basename(context)];
  if (made) parts.push(readFileSync(contextsScript, 'utf8'));
  if (args) parts.push(JSON.stringify(args));
  if (program !== undefined) parts.push(readFileSync(join(context, program), 'utf8'));
  if (dockerfile.startsWith(`FROM ${debian}`)) parts.push(base);
  return createHash('sha256').update(parts.join('\0')).digest('hex');
}

function readMade(lab: Lab): Record<string, string> {
  return JSON.parse(readIfThere(madeFile(lab)) ?? '{}') as Record<string, string>;
}

function madeFile({ imagesDir }: Lab): string {
  return join(imagesDir, 'stand-ins.json');
}
