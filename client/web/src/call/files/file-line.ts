/** A line of the chat that shares a file: its name and size, and the link of an encrypted page on the next line, which any client of the chat shows. */
import type { PageAddress } from '@parley/protocol/pages';
import { displayName } from '../../shared-pages/content/display-name.ts';
import { mediaKeyIn } from '../media-key.ts';

export interface OfferedFile {
  /** As the sender wrote it, without invisible characters. */
  readonly name: string;
  /** As the sender wrote it. */
  readonly size: string;
  readonly page: PageAddress;
  readonly key: string;
}

const LINE = /^(.{1,200}) \((\d{1,4}(?:\.\d)? (?:B|KiB|MiB|GiB))\)\n(\S{1,300})$/u;
const PAGE_LINK = /^\/p\/([0-9a-f]{64})#key=/;

export const visibleName = (name: string): string => displayName(name) || 'A file';

export const fileLine = (name: string, size: string, link: string): string => `${name} (${size})\n${link}`;

/** `null` for any other line, also for one with a link to another site. `origin`: of this site. */
export function readFileLine(text: string, origin: string): OfferedFile | null {
  const [, name, size, link] = LINE.exec(text) ?? [];
  if (name === undefined || size === undefined || link?.startsWith(origin) !== true) return null;
  const page = PAGE_LINK.exec(link.slice(origin.length))?.[1];
  const key = mediaKeyIn(link);
  return page === undefined || key === null ? null : { name: visibleName(name), size, page, key };
}
