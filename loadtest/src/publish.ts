/** Writes the figures where the documentation shows them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { commitOf } from '@parley/local/commit';

const DIRECTORY = fileURLToPath(new URL('../../docs/evaluation/', import.meta.url));

/** `report` is everything that was found out, `svg` its picture. */
export function publish(name: string, report: object, svg: string): void {
  mkdirSync(DIRECTORY, { recursive: true });
  const at = new Date().toISOString();
  write(`${name}.json`, `${JSON.stringify({ at, commit: commitOf(), ...report }, null, 2)}\n`);
  write(`${name}.svg`, svg);
}

function write(name: string, text: string): void {
  writeFileSync(`${DIRECTORY}${name}`, text);
  console.log(`written: ${DIRECTORY}${name}`);
}
