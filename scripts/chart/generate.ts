/** Writes what is generated from values.yaml; with --check it only says what is stale. */
import { readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { referenceOf } from './reference.ts';
import { schemaOf } from './schema.ts';
import { readValues } from './values.ts';

const values = readValues();
const reference = await format(referenceOf(values), { parser: 'markdown', printWidth: 110 });
const files = [
  { path: 'charts/parley/values.schema.json', content: schemaOf(values) },
  { path: 'docs/operations/values.md', content: reference },
];
for (const { path, content } of files) {
  if (!process.argv.includes('--check')) writeFileSync(path, content);
  else if (readFileSync(path, 'utf8') !== content) {
    console.error(`${path} is stale: run \`npm run chart:generate\``);
    process.exitCode = 1;
  }
}
