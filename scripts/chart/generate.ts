/** Writes the files generated from values.yaml and from the services' metrics; with --check it only reports stale ones. */
import { readFileSync, writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { exportedMetrics } from './metrics.ts';
import { metricsReferenceOf, referenceOf } from './reference.ts';
import { schemaOf } from './schema.ts';
import { readValues } from './values.ts';

const values = readValues();
const page = (text: string): Promise<string> => format(text, { parser: 'markdown', printWidth: 110 });
const files = [
  { path: 'charts/parley/values.schema.json', content: schemaOf(values) },
  { path: 'docs/operations/values.md', content: await page(referenceOf(values)) },
  { path: 'docs/operations/metrics.md', content: await page(metricsReferenceOf(exportedMetrics())) },
];
for (const { path, content } of files) {
  if (!process.argv.includes('--check')) writeFileSync(path, content);
  else if (readFileSync(path, 'utf8') !== content) {
    console.error(`${path} is stale: run \`npm run chart:generate\``);
    process.exitCode = 1;
  }
}
