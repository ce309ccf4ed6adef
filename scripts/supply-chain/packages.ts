/** What may come from npm: package-lock.json holds the source, the hash, the licence and the install scripts of every package. */

export interface Lock {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export interface LockedPackage {
  /** Absent where the lock leaves the registry to npm's configuration. */
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
  readonly link?: boolean;
}

const REGISTRY = 'https://registry.npmjs.org/';

/** SPDX ids that let Parley be used and passed on under its own licence. */
const LICENCES = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'Unlicense',
  'Zlib',
]);

/** Licences that ask for more, each for the packages where what they ask for is given. */
const EXCEPTIONS: Readonly<Record<string, { readonly packages: RegExp; readonly why: string }>> = {
  'BlueOak-1.0.0': {
    packages: /^minimatch$/,
    why: 'a build tool of the reference of the SDK: no image has it',
  },
  'MPL-2.0': { packages: /^(axe-core|lightningcss(-.+)?)$/, why: 'build and test tools: no image has them' },
  'Python-2.0': { packages: /^argparse$/, why: 'a build tool of the reference of the SDK: no image has it' },
  'LGPL-2.1': {
    packages: /^@libav\.js\/(types|variant-opus-af)$/,
    why: 'the Opus codec for browsers without one: a module of its own, unchanged, that a user may replace',
  },
};

/** Packages that may run a program when they are installed. */
const INSTALL_SCRIPTS: ReadonlySet<string> = new Set([
  // Finds the compiled addon in the package, or compiles it; it is optional, and images are built without scripts.
  'bufferutil',
]);

/** A sentence for each package that may not be there. */
export function faultsOf(lock: Lock): string[] {
  if (lock.lockfileVersion !== 3) return [`the lock file has version ${lock.lockfileVersion}, not 3`];
  return Object.entries(lock.packages).flatMap(([path, locked]) => {
    const at = path.lastIndexOf('node_modules/');
    // The workspaces themselves, and links to them.
    if (at < 0 || locked.link === true) return [];
    const name = path.slice(at + 'node_modules/'.length);
    return faultsOfPackage(name, locked).map((fault) => `${path}: ${fault}`);
  });
}

function faultsOfPackage(name: string, locked: LockedPackage): string[] {
  const { resolved = REGISTRY, integrity = '', license = 'none', hasInstallScript = false } = locked;
  const faults: string[] = [];
  if (!resolved.startsWith(REGISTRY)) faults.push(`comes from ${resolved}, not from the registry`);
  if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity)) faults.push('has no SHA-512 hash');
  if (!isAllowed(name, license)) faults.push(`has the licence ${license}, which is not on the list`);
  if (hasInstallScript && !INSTALL_SCRIPTS.has(name)) faults.push('runs a script when it is installed');
  return faults;
}

/** Of `A OR B` one is enough, of `A AND B` both are needed; no package of ours has more than one of the two. */
function isAllowed(name: string, license: string): boolean {
  const expression = license.replace(/^\((.*)\)$/, '$1');
  const isFree = (id: string): boolean => LICENCES.has(id) || EXCEPTIONS[id]?.packages.test(name) === true;
  return expression.includes(' OR ')
    ? expression.split(' OR ').some(isFree)
    : expression.split(' AND ').every(isFree);
}
