/** Reads a software bill of materials (SPDX 2.3, as JSON) of one of Parley's images, and checks it. */
import type { OwnImage } from './images.ts';

export interface SpdxDocument {
  readonly spdxVersion: string;
  readonly packages: readonly {
    readonly name: string;
    readonly externalRefs?: readonly { readonly referenceType: string; readonly referenceLocator: string }[];
  }[];
}

export interface Component {
  /** Type of its package URL: `deb`, `npm`, `cargo`, ... */
  readonly type: string;
  /** With its npm scope, without its Debian distribution. */
  readonly name: string;
  readonly version: string;
}

/** A component without a version is present in any. */
export type Required = Omit<Component, 'version'> & { readonly version?: string };

/** Files of the repository that define the installed and compiled components. */
export interface Sources {
  /** `Cargo.lock`. */
  readonly crates: string;
  /** `package-lock.json`. */
  readonly npm: { readonly packages: Readonly<Record<string, { readonly version?: string }>> };
  /** The dependencies in the package.json of an image's workspace; none for an image without Node.js. */
  readonly dependenciesOf: (image: OwnImage) => readonly string[];
}

/** Each binary is known by crates that it cannot do without. */
const CRATES: Readonly<Partial<Record<OwnImage, readonly string[]>>> = {
  relay: ['parley-relay', 'tokio', 'async-nats', 'rustls'],
  cli: ['parley-cli', 'tokio', 'clap', 'rustls'],
};

const DEBIAN: Readonly<Partial<Record<OwnImage, readonly string[]>>> = {
  relay: ['ca-certificates'],
  turn: ['coturn'],
  cli: ['ca-certificates'],
};

/** What an image must list: Debian's packages in any version, crates and direct npm dependencies in those of the lock files. */
export function requiredOf(image: OwnImage, { crates, npm, dependenciesOf }: Sources): Required[] {
  return [
    ...['libc6', ...(DEBIAN[image] ?? [])].map((name) => ({ type: 'deb', name })),
    ...(CRATES[image] ?? []).map((name) => ({ type: 'cargo', name, version: crateVersion(crates, name) })),
    ...dependenciesOf(image)
      .filter((name) => !name.startsWith('@parley/'))
      .map((name) => ({ type: 'npm', name, version: npmVersion(npm, name) })),
  ];
}

/** Every package URL of the document once, that of the image itself included (`oci`). */
export function componentsOf(document: SpdxDocument): Component[] {
  const locators = document.packages.flatMap(({ externalRefs = [] }) =>
    externalRefs.flatMap(({ referenceType, referenceLocator }) =>
      referenceType === 'purl' ? [referenceLocator] : [],
    ),
  );
  return [...new Set(locators)].flatMap((locator) => readPackageUrl(locator) ?? []);
}

/** A message for each required component that is missing, or present in other versions only. */
export function faultsOf(components: readonly Component[], required: readonly Required[]): string[] {
  return required.flatMap(({ type, name, version }) => {
    const found = components.filter((component) => component.type === type && component.name === name);
    if (found.length === 0) return [`lacks the ${type} package ${name}`];
    if (version === undefined || found.some((component) => component.version === version)) return [];
    return [`has the ${type} package ${name} ${found.map((one) => one.version).join(', ')}, not ${version}`];
  });
}

/** `pkg:type/namespace/name@version?qualifiers#subpath`, as the package-url specification says. */
function readPackageUrl(locator: string): Component | undefined {
  const match = /^pkg:(?<type>[^/]+)\/(?<path>[^@?#]+)@(?<version>[^?#]+)/.exec(locator);
  if (!match?.groups) return undefined;
  const { type = '', path = '', version = '' } = match.groups;
  const parts = path.split('/').map(decodeURIComponent);
  const name = type === 'npm' ? parts.join('/') : (parts.at(-1) ?? '');
  return { type, name, version: decodeURIComponent(version) };
}

function crateVersion(lock: string, name: string): string {
  const [version, ...others] = [...lock.matchAll(/^name = "(.+)"\nversion = "(.+)"$/gm)].flatMap((match) =>
    match[1] === name ? [match[2]] : [],
  );
  if (version === undefined || others.length > 0) throw new Error(`Cargo.lock has not one ${name}`);
  return version;
}

function npmVersion({ packages }: Sources['npm'], name: string): string {
  const version = packages[`node_modules/${name}`]?.version;
  if (version === undefined) throw new Error(`package-lock.json has no ${name}`);
  return version;
}
