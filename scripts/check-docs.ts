/**
 * Checks that what the documentation points at is there: relative links, and paths in backticks that begin with a top folder. That
 * `docs/README.md` links to every document. That every rule of the specifications is cited by a test that runs. That each entry of the list of mutants
 * is valid. And that the threat model and the hostile suite name the same attacks.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { compareAttacks } from './attacks.ts';
import { MUTANTS } from './mutants/list.ts';
import { problemsOf } from './mutants/mutant.ts';
import { inVain, rulesOf, uncited, type Page } from './rules.ts';
import { inCrates, runByNode } from './test-files.ts';

const LINK = /\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)/g;
const QUOTED = /`([\w.-]+(?:\/[\w.@-]+)+\/?)`/g;

/** Pages that walk through the signaling service name its files without their common beginning. */
const SIGNALING = 'services/signaling/src';
const LAYERS = new Set(['core', 'adapters', 'server']);

/** Where the attacks are, and what names them. */
const HOSTILE = 'infra/hostile/src';
const SECURITY = 'docs/security';

/** The index of all documents. GitHub shows those of its own folder by itself. */
const INDEX = 'docs/README.md';
const NOT_INDEXED = /^\.github\//;

const SPECIFICATIONS = ['services/protocol/SPEC.md', 'services/relay/STREAMS.md', 'services/relay/MEDIA.md'];

const folders = new Set(
  readdirSync('.', { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name),
);
const pages = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((page) => existsSync(page));
const missing: string[] = [];
const indexed = new Set([INDEX]);

for (const page of pages) {
  const text = readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  for (const [, target = ''] of text.replaceAll(/`[^`\n]*`/g, '').matchAll(LINK)) {
    const path = normalize(join(dirname(page), decodeURI(target)));
    if (!existsSync(path)) missing.push(`${page}: link to ${target}`);
    if (page === INDEX) indexed.add(path);
  }
  for (const [, path = ''] of text.matchAll(QUOTED)) {
    const [top = ''] = path.split('/');
    const places = [path, join(dirname(page), path), join(SIGNALING, path)];
    const isPath = folders.has(top) || LAYERS.has(top);
    if (isPath && !isBuilt(path) && !places.some((place) => existsSync(place)))
      missing.push(`${page}: \`${path}\``);
  }
}

/** Made by a build or a run, not in the repository. */
function isBuilt(path: string): boolean {
  return /\/(dist|target|node_modules|screenshots|results)(\/|$)/.test(path);
}

if (missing.length > 0) {
  console.error(`The documentation points at what is not there:\n  ${missing.join('\n  ')}`);
  process.exitCode = 1;
}

const unindexed = pages.filter((page) => !NOT_INDEXED.test(page) && !indexed.has(page));
if (unindexed.length > 0) {
  console.error(`${INDEX} does not link to:\n  ${unindexed.join('\n  ')}`);
  process.exitCode = 1;
}

const read = (path: string): Page => ({ path, text: readFileSync(path, 'utf8') });
const listed = (...patterns: string[]): string[] =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...patterns], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .filter((path) => existsSync(path));
const specifications = SPECIFICATIONS.map(read);
const tests = listed('*.test.ts', '*.test.tsx').map(read);
const rust = listed('*.rs').map(read);
const fixtures = listed('*/fixtures/*.json').map(read);
const covered = new Set([...runByNode(listed('*package.json')), ...inCrates(rust)]);
const rules = new Set(specifications.flatMap(rulesOf));
for (const [found, sentence] of [
  [
    uncited(specifications, [...tests, ...rust, ...fixtures]),
    'Rules that no test cites, as `[ROOM-3]` in its title, `str_1_` in its name or `rule` in a fixture',
  ],
  [inVain([...tests, ...rust], covered), 'Rules are cited where no test runs'],
  [problemsOf(MUTANTS, rules), 'Mutants of scripts/mutants that test nothing'],
] as const)
  if (found.length > 0) {
    console.error(`${sentence}:\n  ${found.join('\n  ')}`);
    process.exitCode = 1;
  }

const textsIn = (folder: string, end: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end))
    .map((name) => readFileSync(join(folder, name), 'utf8'));
const { unknown, unnamed, noRules } = compareAttacks(
  [...textsIn(join(HOSTILE, 'attacks'), '.ts'), readFileSync(join(HOSTILE, 'verdict.ts'), 'utf8')],
  textsIn(SECURITY, '.md'),
  rules,
);
for (const [names, sentence] of [
  [unknown, `${SECURITY} names attacks that ${HOSTILE} does not run`],
  [unnamed, `${HOSTILE} runs attacks that ${SECURITY} does not name`],
  [noRules, `${HOSTILE} cites rules that are in no specification`],
] as const)
  if (names.length > 0) {
    console.error(`${sentence}: ${names.join(', ')}`);
    process.exitCode = 1;
  }
