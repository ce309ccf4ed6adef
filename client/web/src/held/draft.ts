/** What somebody is about to make a page of: something written, or a file. */
import type { PageContent } from '@parley/sdk/pages/api';
import { shownName } from './shown/file-name.ts';

export const WRITTEN = {
  text: { type: 'text/plain', label: 'Text' },
  markdown: { type: 'text/markdown', label: 'Markdown' },
  html: { type: 'text/html', label: 'HTML' },
} as const;

export type Written = keyof typeof WRITTEN;

/** The protocol's; a longer one is no reason to refuse a page. */
export const LONGEST_NAME = 200;

export const written = (kind: Written, text: string, name: string): PageContent => ({
  type: WRITTEN[kind].type,
  name: nameOf(name),
  bytes: new TextEncoder().encode(text),
});

export async function fromFile(file: File): Promise<PageContent> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  return { type: typeOf(file.name, file.type), name: nameOf(file.name), bytes };
}

function nameOf(text: string): string | null {
  const name = shownName(text);
  // Not half of a character.
  return name === '' ? null : name.slice(0, LONGEST_NAME).replace(/[\ud800-\udbff]$/, '');
}

/** What browsers do not know, or call plain text. */
const BY_ENDING: Readonly<Record<string, string>> = {
  md: 'text/markdown',
  markdown: 'text/markdown',
  avif: 'image/avif',
  webp: 'image/webp',
  json: 'application/json',
  csv: 'text/csv',
  log: 'text/plain',
  txt: 'text/plain',
};

const TYPE = /^[a-z0-9][a-z0-9.+-]*\/[a-z0-9][a-z0-9.+-]*$/;
const LONGEST_TYPE = 100;

export function typeOf(name: string, said: string): string {
  const type = (said.split(';')[0] ?? '').trim().toLowerCase();
  const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  if (Object.hasOwn(BY_ENDING, ending) && (type === '' || type === 'text/plain'))
    return BY_ENDING[ending] ?? '';
  return TYPE.test(type) && type.length <= LONGEST_TYPE ? type : 'application/octet-stream';
}
