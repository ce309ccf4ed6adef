/** The values, and the metrics, as pages of the documentation, section by section. */
import type { Exported } from './metrics.ts';
import type { Value } from './values.ts';

const HEAD = `# Values of the chart

Generated from [values.yaml](../../charts/parley/values.yaml) by \`npm run chart:generate\`. What cannot work is refused with a
sentence that says what to do. Whole examples: [charts/parley/examples](../../charts/parley/examples).
`;

const METRICS_HEAD = `# Metrics

Generated from what the services say of their metrics, by \`npm run chart:generate\`. Names that end with \`_total\` are counters, those that end with
\`_seconds\` histograms, the others and round trips gauges. Signaling also exports what \`prom-client\` knows of Node.js
(\`process_*\`, \`nodejs_*\`), the edge what Envoy does. Where to ask, and what to look at first: [operations.md](../operations.md); alerts and dashboards:
[charts/parley/files](../../charts/parley/files).
`;

export function referenceOf(values: readonly Value[]): string {
  const sections = Map.groupBy(values, ({ path }) => (path.includes('.') ? (path.split('.')[0] ?? '') : ''));
  const parts = [...sections].map(([section, rows]) => `## ${section || 'General'}\n\n${table(rows)}`);
  return [HEAD, ...parts].join('\n');
}

export function metricsReferenceOf(exported: readonly Exported[]): string {
  const parts = exported.map(({ service, metrics }) => {
    const cells = metrics.map(({ name, help }) => [`\`${name}\``, help]);
    return `## ${service}\n\n${tableOf(['metric', 'what'], cells)}`;
  });
  return [METRICS_HEAD, ...parts].join('\n');
}

function table(rows: readonly Value[]): string {
  const cells = rows.map(({ path, fallback, description }) => [
    `\`${path}\``,
    fallback === "''" ? '' : `\`${fallback}\``,
    description,
  ]);
  return tableOf(['value', 'default', 'what'], cells);
}

function tableOf(head: readonly string[], cells: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...cells];
  return `${lines.map((line) => `| ${line.map(escape).join(' | ')} |`).join('\n')}\n`;
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|');
}
