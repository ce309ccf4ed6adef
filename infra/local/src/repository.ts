import { fileURLToPath } from 'node:url';

/** The absolute path of a file of the repository. */
export function inRepository(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}
