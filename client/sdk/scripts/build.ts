/** Builds the package that others install, in `dist`: ES modules, their types, and a package.json that exports only what is public. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const SDK = fileURLToPath(new URL('..', import.meta.url));
const ROOT = join(SDK, '../..');
const DIST = join(SDK, 'dist');
/** The protocol is no package of its own: what the SDK needs of it becomes a part of the package. */
const PROTOCOL = '@parley/protocol';

interface Manifest {
  readonly version: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

const { version, license, dependencies } = JSON.parse(
  readFileSync(join(SDK, 'package.json'), 'utf8'),
) as Manifest;
const { [PROTOCOL]: _inside, ...others } = dependencies;

rmSync(DIST, { recursive: true, force: true });
await buildModules();
writeTypes();
writeFileSync(join(DIST, 'package.json'), `${JSON.stringify(published(), null, 2)}\n`);
writeFileSync(join(DIST, 'README.md'), withoutPaths(readFileSync(join(SDK, 'README.md'), 'utf8')));
copyFileSync(join(ROOT, 'LICENSE'), join(DIST, 'LICENSE'));

/** An application bundles the package again, together with its dependencies: nothing is minified. */
async function buildModules(): Promise<void> {
  const bundle = await rolldown({
    cwd: SDK,
    // The worker has a file of its own, which Vite finds by the usual `new Worker(new URL(…, import.meta.url))`.
    input: { index: 'src/index.ts', 'hidden-clock': 'src/hidden-clock.ts' },
    external: Object.keys(others).map((name) => new RegExp(`^${name}(/|$)`)),
    platform: 'browser',
    plugins: [
      {
        name: 'worker',
        transform: (code) => code.replace(`new URL('hidden-clock.ts'`, `new URL('hidden-clock.js'`),
      },
    ],
  });
  await bundle.write({ dir: DIST, format: 'es', chunkFileNames: '[name].js' });
  await bundle.close();
}

/** Writes the declarations that the one of `index.ts` leads to. */
function writeTypes(): void {
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  const compiled = spawnSync(tsc, ['-p', join(SDK, 'tsconfig.build.json')], { encoding: 'utf8' });
  if (compiled.status !== 0) throw new Error(compiled.stdout);
  const emitted = join(DIST, 'emitted');
  const pending = ['client/sdk/src/index.ts'];
  const written = new Set<string>();
  for (let source = pending.pop(); source !== undefined; source = pending.pop()) {
    if (written.has(source)) continue;
    written.add(source);
    const { text, imported } = moved(
      source,
      readFileSync(join(emitted, source.replace(/ts$/, 'd.ts')), 'utf8'),
    );
    pending.push(...imported);
    const place = join(DIST, `${placeOf(source)}.d.ts`);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text);
  }
  rmSync(emitted, { recursive: true });
}

/** A declaration as it is at its place in the package, and the sources that it imports. */
function moved(
  source: string,
  declaration: string,
): { readonly text: string; readonly imported: readonly string[] } {
  const imported: string[] = [];
  const text = declaration.replaceAll(
    /(?<=\bfrom |\bimport\()(['"])(\.[^'"]+|@parley\/protocol\/[^'"]+)\1/g,
    (...found) => {
      const name = String(found[2]);
      const target = name.startsWith('.')
        ? posix.join(posix.dirname(source), name)
        : `${name.replace(PROTOCOL, 'services/protocol/src')}.ts`;
      imported.push(target);
      const path = posix.relative(posix.dirname(placeOf(source)), placeOf(target));
      return `'${path.startsWith('.') ? path : `./${path}`}.js'`;
    },
  );
  return { text, imported };
}

/** A page of the repository without its links to files there, which the package does not have. */
function withoutPaths(page: string): string {
  return page.replaceAll(/\[([^\]]+)\]\((?!https?:|#)[^)]+\)/g, '$1');
}

/** Where the declaration of a source is in the package, without its extension. */
function placeOf(source: string): string {
  return source
    .replace(/^client\/sdk\/src\//, 'types/')
    .replace(/^services\/protocol\/src\//, 'types/protocol/')
    .replace(/\.ts$/, '');
}

function published(): object {
  return {
    name: '@parley/sdk',
    version,
    description: 'Calls and pages of a Parley installation, in browsers',
    license,
    type: 'module',
    sideEffects: false,
    exports: {
      '.': { types: './types/index.d.ts', default: './index.js' },
      './hidden-clock.js': './hidden-clock.js',
    },
    files: ['*.js', 'types'],
    dependencies: others,
  };
}
