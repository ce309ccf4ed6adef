import { join } from 'node:path';
import { inRepository } from '@parley/local/repository';
import { kubeconfig } from './certificates.ts';
import { imageValuesFile } from './images.ts';
import { kubectl } from './kubectl.ts';
import type { Lab } from './lab.ts';
import { inLab } from './network.ts';
import { run } from './run.ts';

export const namespace = 'parley';
/** The host name of the application; the lab's hosts file resolves it. */
export const host = 'parley.test';

/** The only key that is read from a Secret. */
interface Secret {
  readonly data: Readonly<Record<string, string>>;
}

export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly nodeName: string; readonly containers: readonly { readonly image: string }[] };
  readonly status: {
    /** The first of `podIPs`, which are one of each family. */
    readonly podIP: string;
    readonly podIPs: readonly { readonly ip: string }[];
    readonly containerStatuses: readonly { readonly containerID: string; readonly restartCount: number }[];
  };
}

/** Installs the chart from this clone, or upgrades the installed release; resolves when all pods are ready. */
export async function installRelease(lab: Lab, ...flags: string[]): Promise<void> {
  const here = { chart: inRepository('charts/parley'), values: inRepository('infra/cluster/values.yaml') };
  await installChart(lab, here, ...flags);
}

export interface Chart {
  /** A directory or a package. */
  readonly chart: string;
  /** Its values in the lab. */
  readonly values: string;
  /** Another namespace than that of the lab's one release. */
  readonly at?: string;
}

/** As `installRelease`, with another chart; the images are always those of this clone. */
export async function installChart(
  lab: Lab,
  { chart, values, at = namespace }: Chart,
  ...flags: string[]
): Promise<void> {
  await helmIn(
    lab,
    at,
    'upgrade',
    '--install',
    'parley',
    chart,
    '--create-namespace',
    '--wait',
    '--timeout=10m',
    '-f',
    values,
    '-f',
    imageValuesFile(lab),
    ...flags,
  );
}

export function helm(lab: Lab, ...args: string[]): Promise<string> {
  return helmIn(lab, namespace, ...args);
}

export function helmIn(lab: Lab, at: string, ...args: string[]): Promise<string> {
  const program = join(lab.toolDir('helm', 'HELM_VERSION'), 'helm');
  return run([...inLab, program, '--namespace', at, '--kubeconfig', kubeconfig(lab, 'admin'), ...args]);
}

/** The running pods of a component, without those that terminate and the ended pod of the doctor. */
export async function podsOf(lab: Lab, component?: string, at = namespace): Promise<Pod[]> {
  const selector = `app.kubernetes.io/instance=parley${component === undefined ? '' : `,app.kubernetes.io/component=${component}`}`;
  const running = '--field-selector=status.phase!=Succeeded';
  const list = await kubectl(lab, '-n', at, 'get', 'pods', '-l', selector, running, '-o', 'json');
  const { items } = JSON.parse(list) as { items: Pod[] };
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

export async function readSecret(lab: Lab, name: string, key: string, at = namespace): Promise<string> {
  const text = await kubectl(lab, '-n', at, 'get', 'secret', name, '-o', 'json');
  const { data } = JSON.parse(text) as Secret;
  return Buffer.from(data[key] ?? '', 'base64').toString();
}
