import { resolve } from 'node:path';
import { readEndpoints } from './endpoints.ts';
import { isAlive } from './identity.ts';
import { readRecords } from './supervise.ts';

const dir = resolve(process.env['PARLEY_LOCAL_DIR'] ?? '.local');
const records = readRecords(dir);
if (records.length === 0) console.log('nothing was started: `make up` starts it');
for (const record of records) {
  const state = isAlive(record) ? 'running' : 'gone';
  console.log([record.name.padEnd(12), state.padEnd(8), String(record.pid).padEnd(8), record.url].join(' '));
}
for (const url of readEndpoints(dir)?.media ?? []) console.log(`media        ${url} (UDP)`);
// For scripts: success means that everything which was started still runs.
process.exitCode = records.length > 0 && records.every(isAlive) ? 0 : 1;
