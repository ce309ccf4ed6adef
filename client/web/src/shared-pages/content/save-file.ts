import type { PageContent } from '@parley/sdk/pages/api';
import { fileName } from './file-name.ts';

/** Long enough for a browser to start the download; the bytes are kept until then. */
const DOWNLOAD_START_MS = 60_000;

/** Saves the bytes with a type that no browser opens, under a sanitized name. */
export function saveFile({ name, type, bytes }: PageContent): void {
  const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName(name, type);
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), DOWNLOAD_START_MS);
}
