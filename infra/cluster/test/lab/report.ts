/** The table of docs/operations/faults.md, which PUBLISH=1 writes. */
import { writeFileSync } from 'node:fs';
import { inRepository } from '@parley/local/site';
import type { Noticed } from './scene.ts';

export interface Row extends Noticed {
  readonly name: string;
}

const head = `# What people notice when something fails

Measured in the lab (\`infra/cluster\`), whose three nodes share one machine with the browsers: \`PUBLISH=1 make test-cluster\`
writes this page. The first row is what the machine does to people when nothing fails. Seconds are the longest of anybody's
without a new picture or a sound, and without a socket to signaling.

`;

export function report(rows: readonly Row[]): void {
  if (process.env['PUBLISH'] !== '1') return;
  const titles = ['while', 'call over TURN', 'broadcast', 'signaling', 'people lost'];
  const seconds = (ms: number): string => (ms / 1000).toFixed(1);
  const cells = rows.map(({ name, callMs, liveMs, signalingMs, lost }) => [
    name,
    ...[callMs, liveMs, signalingMs].map(seconds),
    String(lost.length),
  ]);
  writeFileSync(inRepository('docs/operations/faults.md'), head + table([titles, ...cells]));
}

/** As the formatter would have it. */
function table(rows: readonly (readonly string[])[]): string {
  const [titles = [], ...others] = rows;
  const widths = titles.map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[], fill: string): string =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width, fill)).join(' | ')} |\n`;
  return [line(titles, ' '), line([], '-'), ...others.map((row) => line(row, ' '))].join('');
}
