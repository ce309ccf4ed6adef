/**
 * Writes `generated/`, the contract in `src/` for k6 and for readers, and `rust/src/generated/`, the types of the Rust programs. With `--check`
 * it writes nothing, and fails if a file on disk differs from the sources. `--out` selects another folder.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { CODES } from '../src/codes.ts';
import { LIMITS, limitKey, limitNames } from '../src/limits.ts';
import * as subjects from '../src/subjects.ts';
import { FAMILIES, SHARED } from './families.ts';
import { familyDocument } from './json-schema.ts';
import { openApi } from './openapi.ts';
import { reference } from './reference.ts';
import { rustFiles } from './rust.ts';

/** Subjects and buckets by the name of their export; functions are called with the name of their parameter in braces. */
const SUBJECTS = {
  heartbeatSubject: subjects.heartbeatSubject,
  roomSubject: subjects.roomSubject('{room}'),
  podSubject: subjects.podSubject('{pod}'),
  podDirectedSubject: subjects.podDirectedSubject('{pod}'),
  mediaRelaySubject: subjects.mediaRelaySubject('{region}', '{relay}'),
  pagesHeartbeatSubject: subjects.pagesHeartbeatSubject,
  pageSubject: subjects.pageSubject('{page}'),
  podPagesSubject: subjects.podPagesSubject('{pod}'),
  podVisitorDirectedSubject: subjects.podVisitorDirectedSubject('{pod}'),
  turnNodeSubject: subjects.turnNodeSubject,
  revokedSubject: subjects.revokedSubject,
  relayLeaseSubject: subjects.relayLeaseSubject('{region}', '{relay}'),
  relayCodesSubject: subjects.relayCodesSubject('{mark}'),
  ROOMS_BUCKET: subjects.ROOMS_BUCKET,
  SEATS_BUCKET: subjects.SEATS_BUCKET,
} satisfies Record<keyof typeof subjects, string>;

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** All files of `generated/`, by name. */
function files(): ReadonlyMap<string, string> {
  const limits = limitNames().map((name) => [name, { ...LIMITS[name], key: limitKey(name) }]);
  return new Map([
    ['client-messages.schema.json', json(familyDocument(FAMILIES.client, SHARED))],
    ['server-messages.schema.json', json(familyDocument(FAMILIES.server, SHARED))],
    ['bus-messages.schema.json', json(familyDocument(FAMILIES.bus, SHARED))],
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
    ['codes.json', json(CODES)],
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

/** The files on disk that differ from the sources, are missing, or are not generated. */
function drift(folder: URL, wanted: ReadonlyMap<string, string>): string[] {
  const onDisk = new Set(readdirSync(folder));
  const differing = [...wanted]
    .filter(([name, text]) => !onDisk.has(name) || readFileSync(new URL(name, folder), 'utf8') !== text)
    .map(([name]) => name);
  return [...differing, ...[...onDisk].filter((name) => !wanted.has(name))];
}

const { values } = parseArgs({ options: { check: { type: 'boolean' }, out: { type: 'string' } } });
const root = values.out === undefined ? new URL('../', import.meta.url) : pathToFileURL(`${values.out}/`);
/** The files of each folder under the root. */
const FOLDERS = { 'generated/': files(), 'rust/src/generated/': rustFiles(SUBJECTS) };

for (const [name, wanted] of Object.entries(FOLDERS)) {
  const folder = new URL(name, root);
  mkdirSync(folder, { recursive: true });
  if (!values.check) {
    for (const [file, text] of wanted) writeFileSync(new URL(file, folder), text);
    continue;
  }
  const differing = drift(folder, wanted);
  if (differing.length === 0) continue;
  console.error(
    `services/protocol/${name} differs from the sources in ${differing.join(', ')}: ` +
      'run `npm run generate -w services/protocol` and commit the result.',
  );
  process.exitCode = 1;
}
