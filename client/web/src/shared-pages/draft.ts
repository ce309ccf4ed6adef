/** The content of a new page, from text or from a file. */
import type { PageContent } from '@parley/sdk/pages/api';
import { displayName } from './content/display-name.ts';

export const TEXT_FORMATS = {
  text: { type: 'text/plain', label: 'Text' },
  markdown: { type: 'text/markdown', label: 'Markdown' },
  html: { type: 'text/html', label: 'HTML' },
} as const;

export type TextFormat = keyof typeof TEXT_FORMATS;

/** The limit of the protocol. A longer name is cut, because it is no reason to refuse a page. */
export const MAX_NAME_CHARS = 200;

export const contentOfText = (format: TextFormat, text: string, name: string): PageContent => ({
  type: TEXT_FORMATS[format].type,
  name: nameOf(name),
  bytes: new TextEncoder().encode(text),
});

export async function contentOfFile(file: File): Promise<PageContent> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  return { type: typeOf(file.name, file.type), name: nameOf(file.name), bytes };
}

function nameOf(text: string): string | null {
  const name = displayName(text);
  // The cut may leave one half of a surrogate pair.
  return name === '' ? null : name.slice(0, MAX_NAME_CHARS).replace(/[\ud800-\udbff]$/, '');
}

/** Extensions whose type browsers do not know, or report as plain text. */
const TYPE_BY_EXTENSION: Readonly<Record<string, string>> = {
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
const MAX_TYPE_CHARS = 100;

/** `reported`: the type that the browser reports. */
export function typeOf(name: string, reported: string): string {
  const type = (reported.split(';')[0] ?? '').trim().toLowerCase();
  const extension = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  if (Object.hasOwn(TYPE_BY_EXTENSION, extension) && (type === '' || type === 'text/plain'))
    return TYPE_BY_EXTENSION[extension] ?? '';
  return TYPE.test(type) && type.length <= MAX_TYPE_CHARS ? type : 'application/octet-stream';
}
