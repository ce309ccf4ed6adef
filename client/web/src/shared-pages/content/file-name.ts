/** The file name for saving a page. It comes from a stranger, and a browser saves it without asking. */
import { displayName } from './display-name.ts';

/** Path separators, and characters that some systems do not allow in names. */
const NOT_IN_NAMES = /[/\\:*?"<>|\u2044\u2215\u29f8\uff0f\uff3c]/g;
/** Device names on Windows, with any extension. */
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
const MAX_CHARS = 120;
const MAX_EXTENSION_CHARS = 12;

const EXTENSIONS: Readonly<Record<string, string>> = {
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/html': 'html',
  'text/css': 'css',
  'text/csv': 'csv',
  'application/json': 'json',
  'application/pdf': 'pdf',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/svg+xml': 'svg',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'audio/mpeg': 'mp3',
};

export function fileName(name: string | null, type: string): string {
  const cleaned = displayName(name ?? '')
    .replaceAll(NOT_IN_NAMES, '-')
    .replace(/^[.\s-]+/, '')
    .replace(/[.\s]+$/, '');
  if (cleaned === '') return `page.${Object.hasOwn(EXTENSIONS, type) ? EXTENSIONS[type] : 'bin'}`;
  return shortened(DEVICES.test(cleaned) ? `_${cleaned}` : cleaned);
}

/** The extension stays, because it selects the program that opens the file. */
function shortened(name: string): string {
  const chars = Array.from(name);
  if (chars.length <= MAX_CHARS) return name;
  const dot = chars.lastIndexOf('.');
  const ending = dot > 0 && chars.length - dot <= MAX_EXTENSION_CHARS ? chars.slice(dot) : [];
  return [...chars.slice(0, MAX_CHARS - ending.length), ...ending].join('');
}
