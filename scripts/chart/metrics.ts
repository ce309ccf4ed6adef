/** Names of metrics: those that services export, from their sources, and those that dashboards, alerts and autoscalers ask for. */
import { readFileSync, readdirSync } from 'node:fs';
import { CHART } from './tools.ts';

const read = (path: string): string => readFileSync(path, 'utf8');
const all = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name);

/** What a service exports, as its sources say. */
export interface Exported {
  readonly service: string;
  readonly metrics: readonly { readonly name: string; readonly help: string }[];
}

const SOURCES: readonly (readonly [service: string, path: string])[] = [
  ['Signaling', 'services/signaling/src/server/metrics.ts'],
  ['Signaling: quality of calls', 'services/signaling/src/server/quality.ts'],
  ['Relay: streams', 'services/relay/src/stats/metrics.rs'],
  ['Relay: links between relays', 'services/relay/cluster/src/metrics.rs'],
  ['Relay: media', 'services/relay/media/src/server/metrics.rs'],
  ['Relay: media, mutes and regions', 'services/relay/media/src/running.rs'],
  ['TURN', 'services/turn/src/agent/metrics.ts'],
];

/** A name, the kind where it is said next to it, and the sentence for `# HELP`. */
const METRIC =
  /(['"])([a-z_]+)\1,\s*(?:"(?:gauge|counter)",\s*)?(?:help:\s*)?(['"])((?=[A-Z\d])(?:(?!\3).)+)\3/g;

export function exportedMetrics(): Exported[] {
  return SOURCES.map(([service, path]) => {
    const found = [...read(path).matchAll(METRIC)].map(([, , name = '', , help = '']) => ({ name, help }));
    return { service, metrics: found.filter(({ name }) => name.startsWith('parley_')) };
  });
}

/** Names as they are in the code; histograms have more when they are exported. */
export function exportedNames(): Set<string> {
  return new Set(exportedMetrics().flatMap(({ metrics }) => metrics.map(({ name }) => name)));
}

/** Files of the chart that ask for metrics. */
export function queryFiles(): string[] {
  const dashboards = readdirSync(`${CHART}/files/dashboards`).map(
    (name) => `${CHART}/files/dashboards/${name}`,
  );
  const autoscalers = ['signaling', 'relay'].map((name) => `${CHART}/templates/${name}/hpa.yaml`);
  return [...dashboards, `${CHART}/files/alerts.yaml`, ...autoscalers];
}

export function queriedNames(text: string): string[] {
  return [...new Set(all(text, /\b(parley_[a-z_]+)\b/g))];
}

/** A histogram is asked for by its parts, and an adapter makes the rate of a counter a metric of its own. */
export function isExported(name: string, exported: ReadonlySet<string>): boolean {
  const base = name.replace(/_(?:bucket|sum|count)$/, '');
  return exported.has(name) || exported.has(base) || exported.has(name.replace(/_per_second$/, '_total'));
}
