import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { turnUrls } from './coturn.ts';
import { edgeUrl } from './envoy.ts';
import { readIfThere, writePrivate } from './files.ts';
import { natsUrl } from './nats.ts';
import { inUrl, localhost, reachable, type Site } from './site.ts';
import type { ProcessRecord } from './supervise.ts';

/** The addresses of a running stack: `<dir>/endpoints.json`. */
export interface Endpoints {
  /** The application, as a person opens it. */
  readonly web: string;
  /** The same over TLS, under a self-signed certificate. */
  readonly webTls: string;
  readonly api: string;
  /** Each signaling pod on its own port, without the edge. */
  readonly pods: readonly string[];
  /** Streams through the edge: a topic's path is appended. */
  readonly streams: string;
  /** Each relay on its own port, without the edge. */
  readonly relays: readonly string[];
  /** The relays' media, as clients reach it: WebTransport and QUIC. */
  readonly media: readonly string[];
  /** The same over WebSocket, through the edge: a query is appended. */
  readonly mediaSocket: string;
  readonly nats: string;
  readonly turn: { readonly urls: readonly string[]; readonly secretFile: string };
  /** Prometheus pages. */
  readonly metrics: readonly string[];
  readonly processes: Readonly<
    Record<string, { readonly pid: number; readonly url: string; readonly log: string }>
  >;
}

export function describeEndpoints(site: Site, records: readonly ProcessRecord[]): Endpoints {
  const { ports, secrets } = site;
  const [web, webTls] = webOrigins(site);
  const pods = [ports.pod1, ports.pod2].map((port) => `http://${localhost}:${port}`);
  const relays = [ports.relay1, ports.relay2].map((port) => `http://${localhost}:${port}`);
  return {
    web,
    webTls,
    api: `${web}/v1`,
    pods,
    streams: `${edgeUrl(site).replace('http:', 'ws:')}/streams`,
    relays,
    media: [mediaUrl(site, 'relay1Media'), mediaUrl(site, 'relay2Media')],
    mediaSocket: `${edgeUrl(site).replace('http:', 'ws:')}/media`,
    nats: natsUrl(site),
    turn: { urls: turnUrls(site), secretFile: secrets.turnSecretFile },
    metrics: [
      ...[...pods, ...relays].map((pod) => `${pod}/metrics`),
      `http://${localhost}:${ports.edgeAdmin}/stats/prometheus`,
    ],
    processes: Object.fromEntries(records.map(({ name, pid, url, log }) => [name, { pid, url, log }])),
  };
}

/** The application's origins, without and with TLS. */
export function webOrigins({ edgeHost, ports }: Site): readonly [string, string] {
  // Browsers allow cameras on localhost without TLS, so that name is used if it resolves to the edge.
  const host = reachable(edgeHost) === localhost ? 'localhost' : inUrl(edgeHost);
  return [`http://${host}:${ports.edge}`, `https://${host}:${ports.edgeTls}`];
}

/** The addresses of the relays' media for clients. */
export function mediaUrl({ mediaIp, ports }: Site, name: 'relay1Media' | 'relay2Media'): string {
  return `https://${inUrl(mediaIp)}:${ports[name]}/`;
}

/** Writes the file unless its content is the same, so that a second `make up` changes nothing. */
export function writeEndpoints(dir: string, endpoints: Endpoints): void {
  const content = `${JSON.stringify(endpoints, null, 2)}\n`;
  if (readIfThere(endpointsPath(dir)) !== content) writePrivate(endpointsPath(dir), content);
}

export function readEndpoints(dir: string): Endpoints | undefined {
  const text = readIfThere(endpointsPath(dir));
  return text === undefined ? undefined : (JSON.parse(text) as Endpoints);
}

export function removeEndpoints(dir: string): void {
  rmSync(endpointsPath(dir), { force: true });
}

function endpointsPath(dir: string): string {
  return join(dir, 'endpoints.json');
}
