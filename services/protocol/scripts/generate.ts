/**
 * Writes `generated/`, the contract in `src/` for k6 and for readers, `rust/src/generated/`, the types of the Rust programs, and `docs/api.md`.
 * With `--check` it writes nothing, and fails if a file on disk differs from the sources. `--out` selects another folder.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { LIMITS, limitKey, limitNames } from '../src/limits.ts';
import * as subjects from '../src/subjects.ts';
import { apiPage } from './api-page.ts';
import { FAMILIES, SHARED } from './families.ts';
import { familyDocument } from './json-schema.ts';
import { openApi } from './openapi.ts';
import { reference } from './reference.ts';
import { rustFiles } from './rust.ts';
import { DESCRIBED_CODES } from './described-codes.ts';

/** Subjects and buckets by the name of their export; functions are called with the name of their parameter in braces. */
const SUBJECTS = {
  heartbeatSubject: subjects.heartbeatSubject,
  roomSubject: subjects.roomSubject('{room}'),
  podSubject: subjects.podSubject('{pod}'),
  podDirectedSubject: subjects.podDirectedSubject('{pod}'),
  homeSubject: subjects.homeSubject('{region}'),
  homeTermsSubject: subjects.homeTermsSubject,
  mediaRelaySubject: subjects.mediaRelaySubject('{region}', '{relay}'),
  pagesHeartbeatSubject: subjects.pagesHeartbeatSubject,
  pageSubject: subjects.pageSubject('{page}'),
  podPagesSubject: subjects.podPagesSubject('{pod}'),
  podVisitorDirectedSubject: subjects.podVisitorDirectedSubject('{pod}'),
  relayMutesSubject: subjects.relayMutesSubject,
  turnNodeSubject: subjects.turnNodeSubject,
  revokedSubject: subjects.revokedSubject,
  relayLeaseSubject: subjects.relayLeaseSubject('{region}', '{relay}'),
  relayOriginSubject: subjects.relayOriginSubject('{region}', '{relay}'),
  relayPublicLeaseSubject: subjects.relayPublicLeaseSubject('{region}', '{relay}'),
  relayCodesSubject: subjects.relayCodesSubject('{mark}'),
  ROOMS_BUCKET: subjects.ROOMS_BUCKET,
  SEATS_BUCKET: subjects.SEATS_BUCKET,
  FOLLOWED_BUCKET: subjects.FOLLOWED_BUCKET,
  TERMS_BUCKET: subjects.TERMS_BUCKET,
} satisfies Record<keyof typeof subjects, string>;

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** All files of `generated/`, by name. */
function files(): ReadonlyMap<string, string> {
  const limits = limitNames().map((name) => [name, { ...LIMITS[name], key: limitKey(name) }]);
  return new Map([
    ['client-messages.schema.json', json(familyDocument(FAMILIES.client, SHARED))],
    ['server-messages.schema.json', json(familyDocument(FAMILIES.server, SHARED))],
    ['bus-messages.schema.json', json(familyDocument(FAMILIES.bus, SHARED))],
    ['home.schema.json', json(familyDocument(FAMILIES.home, SHARED))],
    ['http.schema.json', json(familyDocument(FAMILIES.http, SHARED))],
    ['tokens.schema.json', json(familyDocument(FAMILIES.tokens, SHARED))],
    ['media.schema.json', json(familyDocument(FAMILIES.media, SHARED))],
    ['turn.schema.json', json(familyDocument(FAMILIES.turn, SHARED))],
    ['manifest.schema.json', json(familyDocument(FAMILIES.manifest, SHARED))],
    ['visitor.schema.json', json(familyDocument(FAMILIES.visitor, SHARED))],
    ['visit.schema.json', json(familyDocument(FAMILIES.visit, SHARED))],
    ['pages.schema.json', json(familyDocument(FAMILIES.pages, SHARED))],
    ['link.schema.json', json(familyDocument(FAMILIES.link, SHARED))],
    ['peer.schema.json', json(familyDocument(FAMILIES.peer, SHARED))],
    ['openapi.json', json(openApi(version()))],
    ['codes.json', json(DESCRIBED_CODES)],
    ['limits.json', json(Object.fromEntries(limits))],
    ['subjects.json', json(SUBJECTS)],
    ['reference.md', reference(SUBJECTS)],
  ]);
}

function version(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  return manifest.version;
}

/** The files on disk that differ from the sources or are missing, and those that are not generated if nothing else belongs there. */
function drift({ place, wanted, others }: Folder): string[] {
  const onDisk = new Set(existsSync(place) ? readdirSync(place) : []);
  const differing = [...wanted]
    .filter(([name, text]) => !onDisk.has(name) || readFileSync(new URL(name, place), 'utf8') !== text)
    .map(([name]) => name);
  return others ? differing : [...differing, ...[...onDisk].filter((name) => !wanted.has(name))];
}

interface Folder {
  /** As messages show it. */
  readonly name: string;
  readonly place: URL;
  /** The content of its files by name. */
  readonly wanted: ReadonlyMap<string, string>;
  /** Whether it also has files that are written by hand. */
  readonly others: boolean;
}

const { values } = parseArgs({ options: { check: { type: 'boolean' }, out: { type: 'string' } } });
const root = values.out === undefined ? new URL('../', import.meta.url) : pathToFileURL(`${values.out}/`);
const docs = new URL(values.out === undefined ? '../../docs/' : 'docs/', root);
const page = await apiPage(openApi(version()));
const FOLDERS: readonly Folder[] = [
  {
    name: 'services/protocol/generated/',
    place: new URL('generated/', root),
    wanted: files(),
    others: false,
  },
  {
    name: 'services/protocol/rust/src/generated/',
    place: new URL('rust/src/generated/', root),
    wanted: rustFiles(SUBJECTS),
    others: false,
  },
  { name: 'docs/', place: docs, wanted: new Map([['api.md', page]]), others: true },
];

for (const folder of FOLDERS) {
  if (!values.check) {
    mkdirSync(folder.place, { recursive: true });
    for (const [file, text] of folder.wanted) writeFileSync(new URL(file, folder.place), text);
    continue;
  }
  const differing = drift(folder);
  if (differing.length === 0) continue;
  console.error(
    `${folder.name} differs from the sources in ${differing.join(', ')}: ` +
      'run `npm run generate -w services/protocol` and commit the result.',
  );
  process.exitCode = 1;
}
