/** The table of docs/operations/faults.md, which FULL=1 PUBLISH=1 writes. Rows are kept with the lab, as several files of tests make them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commitOf } from '@parley/local/commit';
import { readIfThere, writePrivate } from '@parley/local/files';
import { inRepository } from '@parley/local/repository';
import { lab } from './entry.ts';
import type { Noticed } from './scene.ts';

export interface Row extends Noticed {
  readonly name: string;
  /** In every run, also without FULL=1. */
  readonly always: boolean;
}

const file = join(lab.dir, 'noticed.json');

const head = `# Effects of faults on participants

Measured in the lab (\`infra/cluster\`), whose three nodes share one machine with the browsers: \`FULL=1 PUBLISH=1 make test-cluster\`
writes this page. The first row has the interruptions without a fault, which the machine causes. Values are in seconds: the longest time of any
participant without a new picture or a sound, and without a socket to signaling. Rows that are not in every run are measured with \`FULL=1\`.

`;

/** In place of an earlier row of that name. */
export function note(row: Row): void {
  const others = rows().filter(({ name }) => name !== row.name);
  writePrivate(file, JSON.stringify([...others, row], null, 2));
}

export function publish(): void {
  if (process.env['PUBLISH'] !== '1') return;
  const titles = ['while', 'every run', 'call over TURN', 'broadcast', 'signaling', 'people lost'];
  const seconds = (ms: number): string => (ms / 1000).toFixed(1);
  const cells = rows().map(({ name, always, callMs, liveMs, signalingMs, lost }) => [
    name,
    always ? 'yes' : '',
    ...[callMs, liveMs, signalingMs].map(seconds),
    String(lost.length),
  ]);
  const foot = `\nOf commit \`${commitOf()}\`, ${new Date().toISOString().slice(0, 10)}.\n`;
  writeFileSync(inRepository('docs/operations/faults.md'), head + table([titles, ...cells]) + foot);
}

function rows(): readonly Row[] {
  return JSON.parse(readIfThere(file) ?? '[]') as readonly Row[];
}

/** As the formatter would have it. */
function table(rows: readonly (readonly string[])[]): string {
  const [titles = [], ...others] = rows;
  const widths = titles.map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[], fill: string): string =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width, fill)).join(' | ')} |\n`;
  return [line(titles, ' '), line([], '-'), ...others.map((row) => line(row, ' '))].join('');
}
