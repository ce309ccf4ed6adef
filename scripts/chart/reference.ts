/** The values as a page of the documentation, section by section. */
import type { Value } from './values.ts';

const HEAD = `# Values of the chart

Generated from [values.yaml](../../charts/parley/values.yaml) by \`npm run chart:generate\`. What cannot work is refused with a
sentence that says what to do. Whole examples: [charts/parley/examples](../../charts/parley/examples).
`;

export function referenceOf(values: readonly Value[]): string {
  const sections = Map.groupBy(values, ({ path }) => (path.includes('.') ? (path.split('.')[0] ?? '') : ''));
  const parts = [...sections].map(([section, rows]) => `## ${section || 'General'}\n\n${table(rows)}`);
  return [HEAD, ...parts].join('\n');
}

function table(rows: readonly Value[]): string {
  const cells = rows.map(({ path, fallback, description }) => [
    `\`${path}\``,
    fallback === "''" ? '' : `\`${fallback}\``,
    description,
  ]);
  const lines = [['value', 'default', 'what'], ['---', '---', '---'], ...cells];
  return `${lines.map((line) => `| ${line.map(escape).join(' | ')} |`).join('\n')}\n`;
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|');
}
