/** The image contains what the server needs: `make test` runs the server from the source folder, which contains everything. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const HERE = 'client/web';

test('the image contains every file of the repository that the server imports', () => {
  const lastStage =
    readFileSync(join(ROOT, HERE, 'Dockerfile'), 'utf8')
      .split(/^FROM /m)
      .at(-1) ?? '';
  const copied = [...lastStage.matchAll(/^COPY (client\/\S+) /gm)].map(([, path = '']) => path);
  const needed = importedBy(`${HERE}/server.ts`);
  assert.ok(needed.size > 3, [...needed].join());
  const missing = [...needed].filter(
    (file) => !copied.some((path) => file === path || file.startsWith(`${path}/`)),
  );
  assert.deepEqual(missing, []);
});

/** A file and all files that it imports by path, relative to the root. */
function importedBy(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  const source = readFileSync(join(ROOT, file), 'utf8');
  for (const [, path = ''] of source.matchAll(/^(?:import|export)[^;]*? from '(\.[^']+)'/gm))
    importedBy(normalize(join(file, '..', path)), found);
  return found;
}
