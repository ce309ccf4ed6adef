/** Puts a release into a registry. */
import { join } from 'node:path';
import type { Lab } from '../../infra/cluster/src/lab.ts';
import { run } from '../../infra/cluster/src/run.ts';
import type { Image } from './images.ts';
import type { Options } from './options.ts';

/** Copies an image from its layout with its digest, under the tag of the version; answers its name with that digest. */
export async function pushImage({ name, digest, layout }: Image, options: Options): Promise<string> {
  const { registry, version, isPlainHttp } = options;
  const how = ['--all', '--preserve-digests', ...(isPlainHttp ? ['--dest-tls-verify=false'] : [])];
  const to = `${registry}/${name}`;
  await run(['skopeo', 'copy', '--quiet', ...how, `oci:${layout}:${version}`, `docker://${to}:${version}`]);
  return `${to}@${digest}`;
}

/** Pushes the packed chart; answers its name with the digest of its manifest. */
export async function pushChart(lab: Lab, file: string, { registry, isPlainHttp }: Options): Promise<string> {
  const helm = join(lab.toolDir('helm', 'HELM_VERSION'), 'helm');
  const to = `${registry}/charts`;
  // Helm reports on both of its outputs, and `run` answers the first one alone.
  const command = [helm, 'push', file, `oci://${to}`, ...(isPlainHttp ? ['--plain-http'] : [])];
  const report = await run(['sh', '-c', 'exec "$@" 2>&1', 'sh', ...command]);
  const digest = /^Digest: (sha256:[0-9a-f]{64})$/m.exec(report)?.[1];
  if (digest === undefined) throw new Error(`helm push names no digest: ${report.trim()}`);
  return `${to}/parley@${digest}`;
}
