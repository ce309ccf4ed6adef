/**
 * Stands in for prometheus-adapter: serves `custom.metrics.k8s.io/v1beta1` for pods, by rules of that adapter, from Prometheus. It runs in a
 * pod, behind the API server, which authenticates and authorizes callers; no other client is admitted.
 */
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { serveDiscovery } from './discovery.ts';
import { listPods } from './pods.ts';
import { decodeRules, labelOf, metricNameOf, queryOf, type Rule } from './rules.ts';

const PORT = 8443;
const API = '/apis/custom.metrics.k8s.io/v1beta1';
const DISCOVERY_PORT = 8080;
/** Series of pods that ended longer ago are no metrics. */
const SERIES_OF_LAST_S = 60;

const file = (name: string): string => readFileSync(`/etc/adapter/${name}`, 'utf8');
const prometheus = process.env['PROMETHEUS_URL'] ?? '';
const rules = decodeRules(JSON.parse(file('rules.json')) as Rule[]);
const callers = JSON.parse(file('callers.json')) as string[];

interface Metric {
  readonly rule: Rule;
  readonly series: string;
}

const tls = { cert: file('tls.crt'), key: file('tls.key'), ca: file('callers.crt'), requestCert: true };
createServer(tls, (request, response) => {
  const name = (request.socket as TLSSocket).getPeerCertificate().subject.CN;
  if (typeof name !== 'string' || !callers.includes(name)) return refuse(response, 403, 'not the API server');
  answer(new URL(request.url ?? '/', 'https://adapter')).then(
    (found) => {
      if (found === undefined) refuse(response, 404, `no metric at ${request.url}`);
      else send(response, 200, found);
    },
    (error: unknown) => {
      console.error(error);
      refuse(response, 500, String(error));
    },
  );
}).listen(PORT);
serveDiscovery(DISCOVERY_PORT);

async function answer({ pathname, searchParams }: URL): Promise<object | undefined> {
  if (pathname === API) return resources(await metrics());
  const [, namespace, name] =
    /^\/namespaces\/([^/]+)\/pods\/\*\/([^/]+)$/.exec(decodeURIComponent(pathname.slice(API.length))) ?? [];
  if (namespace === undefined || name === undefined) return undefined;
  const metric = (await metrics()).get(name);
  return metric && valuesOf(metric, { name, namespace, selector: searchParams.get('labelSelector') ?? '' });
}

/** All metrics that the rules find, by their names in the API. */
async function metrics(): Promise<Map<string, Metric>> {
  const start = String(Math.floor(Date.now() / 1000) - SERIES_OF_LAST_S);
  const found = await Promise.all(
    rules.map(async (rule) => {
      const query = new URLSearchParams({ 'match[]': rule.seriesQuery, start });
      const series = (await ask(`series?${query}`)) as { __name__: string }[];
      return [...new Set(series.map(({ __name__ }) => __name__))].flatMap((one) => {
        const name = metricNameOf(rule, one);
        return name === undefined ? [] : [[name, { rule, series: one }] as const];
      });
    }),
  );
  return new Map(found.flat());
}

function resources(all: ReadonlyMap<string, Metric>): object {
  const kind = { singularName: '', namespaced: true, kind: 'MetricValueList', verbs: ['get'] };
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: 'custom.metrics.k8s.io/v1beta1',
    resources: [...all.keys()].map((name) => ({ name: `pods/${name}`, ...kind })),
  };
}

async function valuesOf(
  { rule, series }: Metric,
  { name, namespace, selector }: { name: string; namespace: string; selector: string },
): Promise<object> {
  const pods = (await listPods(namespace, selector)).map(({ metadata }) => metadata.name);
  const query = queryOf(rule, { series, namespace, pods });
  const { result } = (
    pods.length === 0 ? { result: [] } : await ask(`query?${new URLSearchParams({ query })}`)
  ) as {
    result: { metric: Record<string, string>; value: [number, string] }[];
  };
  const items = result.map(({ metric, value: [at, value] }) => ({
    describedObject: { kind: 'Pod', namespace, name: metric[labelOf(rule, 'pod')], apiVersion: '/v1' },
    metricName: name,
    timestamp: new Date(at * 1000).toISOString().replace(/\.\d+/, ''),
    value: `${Math.round(Number(value) * 1000)}m`,
    selector: null,
  }));
  return { kind: 'MetricValueList', apiVersion: 'custom.metrics.k8s.io/v1beta1', metadata: {}, items };
}

async function ask(path: string): Promise<unknown> {
  const response = await fetch(`${prometheus}/api/v1/${path}`);
  const { data, error } = (await response.json()) as { data?: unknown; error?: string };
  if (data === undefined) throw new Error(error ?? `Prometheus answers ${response.status}`);
  return data;
}

function refuse(response: ServerResponse, code: number, message: string): void {
  send(response, code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message });
}

function send(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
