/** The package of the SDK, as `npm install` takes it, and its reference. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../infra/cluster/src/run.ts';
import { inRepository } from '../../infra/local/src/repository.ts';
import { packFiles } from './archive.ts';
import type { Commit } from './sources.ts';

/** Builds and packs `@parley/sdk`; answers the file. */
export async function packSdk(version: string, directory: string): Promise<string> {
  await run(['npm', 'run', '--silent', 'build', '--workspace', 'client/sdk']);
  const dist = inRepository('client/sdk/dist');
  const manifest = JSON.parse(readFileSync(join(dist, 'package.json'), 'utf8')) as { version: string };
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify({ ...manifest, version }, null, 2)}\n`);
  const name = await run(['npm', 'pack', '--silent', dist, '--pack-destination', directory]);
  return join(directory, name.trim());
}

/** Writes the reference of `@parley/sdk` and packs it as `parley-sdk-VERSION-reference.tar.gz`, a folder of HTML; answers the file. */
export async function packReference(to: {
  readonly directory: string;
  readonly version: string;
  readonly commit: Commit;
}): Promise<string> {
  await run(['npm', 'run', '--silent', 'build', '--workspace', 'client/api-docs']);
  const dist = inRepository('client/api-docs/dist');
  const name = `parley-sdk-${to.version}-reference`;
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .filter((path) => statSync(join(dist, path)).isFile())
    .map((path) => ({ path: `${name}/${path}`, content: readFileSync(join(dist, path)) }));
  const file = join(to.directory, `${name}.tar.gz`);
  writeFileSync(file, packFiles(files, to.commit.time));
  return file;
}
