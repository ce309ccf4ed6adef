/**
 * Counts words of the private vocabulary in comments and in the prose of Markdown, and fails where a folder has more than one in 1,000 words:
 * each of them hides which participant, process or reader a sentence is about. The terms to use are in services/protocol/GLOSSARY.md.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const PRIVATE = /\b(?:whoever|whomever|somebody|nobody|anybody|everybody|anew|heard|told)\b/gi;
const WORD = /[A-Za-z']+/g;
const MAX_PER_1000 = 1;

const EXCLUDED = /(?:^|\/)(?:fixtures|generated|golden|corpus)\//;
const GLOSSARY = 'services/protocol/GLOSSARY.md';

/** Strings come first, so that `//` in an address does not begin a comment. */
const SLASH = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|\/\/.*|\/\*[^]*?\*\//g;
const HASH = /(?<=^|\s)#.*|\{\{-?\s*\/\*[^]*?\*\//gm;
const SYNTAX = [
  [/\.(?:[cm]?[jt]sx?|rs|css)$/, SLASH],
  [/(?:\.(?:sh|ya?ml|toml|tpl)|(?:^|\/)(?:Makefile|Dockerfile))$/, HASH],
] as const;

export interface Count {
  words: number;
  /** `file:line: word` of each private word. */
  readonly found: string[];
}

/** The comments or the prose of a file, on the same lines as in the file; empty for other kinds of files. */
export function proseIn(path: string, text: string): string {
  if (EXCLUDED.test(path)) return '';
  if (path.endsWith('.md')) return markdownProse(path === GLOSSARY ? withoutLastColumn(text) : text);
  for (const [name, comment] of SYNTAX) if (name.test(path)) return commentsIn(text, comment);
  return '';
}

const onlyNewlines = (text: string): string => text.replaceAll(/[^\n]/g, '');

const markdownProse = (text: string): string =>
  text.replaceAll(/^```[^]*?^```|`[^`\n]*`/gm, (code) => onlyNewlines(code));

const withoutLastColumn = (text: string): string => text.replaceAll(/[^|\n]*\|$/gm, '');

function commentsIn(text: string, token: RegExp): string {
  let comments = '';
  let end = 0;
  for (const { 0: match, index } of text.matchAll(token)) {
    comments += onlyNewlines(text.slice(end, index)) + (/^["'`]/.test(match) ? onlyNewlines(match) : match);
    end = index + match.length;
  }
  return comments;
}

/** The counts of each folder, of at most two levels: `client/cli`. */
export function countByFolder(files: Iterable<{ path: string; text: string }>): Map<string, Count> {
  const folders = new Map<string, Count>();
  for (const { path, text } of files) {
    const folder = path.split('/').slice(0, -1).slice(0, 2).join('/') || '.';
    const count = folders.get(folder) ?? { words: 0, found: [] };
    folders.set(folder, count);
    for (const [at, line] of proseIn(path, text).split('\n').entries()) {
      count.words += line.match(WORD)?.length ?? 0;
      for (const [word] of line.matchAll(PRIVATE)) count.found.push(`${path}:${at + 1}: ${word}`);
    }
  }
  return folders;
}

/** A folder of fewer than 1,000 words may have one. */
export const isOverLimit = ({ words, found }: Count): boolean =>
  found.length > Math.max(1, (words / 1000) * MAX_PER_1000);

if (import.meta.main) {
  const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .filter((path) => existsSync(path))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  for (const [folder, count] of countByFolder(files)) {
    if (!isOverLimit(count)) continue;
    const { words, found } = count;
    console.error(
      `${folder}: ${found.length} private words in ${words} (more than ${MAX_PER_1000} in 1,000):\n  ${found.join('\n  ')}`,
    );
    process.exitCode = 1;
  }
}
