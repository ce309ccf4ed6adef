/** Names of metrics: those that services export, from their sources, and those that dashboards, alerts and autoscalers ask for. */
import { readFileSync, readdirSync } from 'node:fs';
import { CHART } from './tools.ts';

const read = (path: string): string => readFileSync(path, 'utf8');
const all = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name);

/** Names as they are in the code; histograms have more when they are exported. */
export function exportedNames(): Set<string> {
  const media = all(read('services/relay/media/src/metrics.rs'), /(?:out\.head\(|^ +\()"([a-z_]+)",/gm);
  return new Set([
    ...all(read('services/signaling/src/server/metrics.ts'), /'(parley_[a-z_]+)'/g),
    ...all(read('services/relay/src/stats/metrics.rs'), /"(parley_relay_[a-z_]+)"/g),
    ...all(read('services/relay/src/cluster/metrics.rs'), /"(parley_relay_[a-z_]+)"/g),
    ...media.map((name) => `parley_media_${name}`),
    ...all(read('services/turn/src/agent/metrics.ts'), /'(parley_turn_[a-z_]+)'/g),
  ]);
}

/** Files of the chart that ask for metrics. */
export function askingFiles(): string[] {
  const dashboards = readdirSync(`${CHART}/files/dashboards`).map(
    (name) => `${CHART}/files/dashboards/${name}`,
  );
  const autoscalers = ['signaling', 'relay'].map((name) => `${CHART}/templates/${name}/hpa.yaml`);
  return [...dashboards, `${CHART}/files/alerts.yaml`, ...autoscalers];
}

export function askedNames(text: string): string[] {
  return [...new Set(all(text, /\b(parley_[a-z_]+)\b/g))];
}

/** A histogram is asked for by its parts, and an adapter makes the rate of a counter a metric of its own. */
export function isExported(name: string, exported: ReadonlySet<string>): boolean {
  const base = name.replace(/_(?:bucket|sum|count)$/, '');
  return exported.has(name) || exported.has(base) || exported.has(name.replace(/_per_second$/, '_total'));
}
