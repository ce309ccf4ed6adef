/** The ways into the lab's Parley: each node is one, and a test chooses which. */
import { isIP, type LookupFunction } from 'node:net';
import { request } from 'node:https';
import { WebSocket } from 'ws';
import { balancerAddress, describeLab, homes, nodes } from '../../src/lab.ts';
import type { Region } from '../../src/regions.ts';
import { host, readSecret } from '../../src/release.ts';

export const lab = describeLab(process.env);

/** How long an answer may take that needs nothing but a busy machine. */
const answerWithinMs = 20_000;

export interface Entry {
  readonly name: string;
  /** Of the application. */
  readonly host: string;
  post(path: string, body: unknown): Promise<{ status: number; text: string }>;
  get(path: string): Promise<{ status: number; text: string }>;
  /** A socket to that address, not open yet. */
  open(url: string): WebSocket;
}

/** An entry for every node. Its clients trust the edge's own certificate and no other. */
export async function entries(): Promise<Entry[]> {
  const ca = await edgeCertificate();
  return nodes.map(({ name, address }) => entry({ name, host, address, ca }));
}

/** As `entries`, by the IPv6 addresses of the nodes. */
export async function entriesOverIpv6(): Promise<Entry[]> {
  const ca = await edgeCertificate();
  return nodes.map(({ name, address6 }) => entry({ name: `${name}-ipv6`, host, address: address6, ca }));
}

/** By the load balancer, from each of the addresses that a crowd lives at. */
export async function entriesFromHomes(): Promise<Entry[]> {
  const ca = await edgeCertificate();
  return homes.map((home) => entry({ name: home, host, address: balancerAddress, localAddress: home, ca }));
}

/** The edge of a region, on its node. */
export async function entryOf({ name, host, node: { address } }: Region): Promise<Entry> {
  return entry({ name, host, address, ca: await edgeCertificate(name) });
}

interface Way {
  readonly name: string;
  readonly host: string;
  readonly address: string;
  readonly localAddress?: string;
  readonly ca: string;
}

function entry({ name, host, address, ...from }: Way): Entry {
  const family = isIP(address);
  const lookup: LookupFunction = (_, options, answer) => {
    if (options.all) answer(null, [{ address, family }]);
    else answer(null, address, family);
  };
  const ask = (method: string, path: string, body?: string) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': 'application/json' };
      const options = { host, path, method, headers, ...from, lookup, agent: false, timeout: answerWithinMs };
      const asked = request(options, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      asked.once('timeout', () => asked.destroy(new Error(`${name} does not answer ${path}`)));
      asked.once('error', reject);
      asked.end(body);
    });
  return {
    name,
    host,
    get: (path) => ask('GET', path),
    post: (path, body) => ask('POST', path, JSON.stringify(body)),
    open: (url) => new WebSocket(url, { ...from, lookup, origin: `https://${host}` }),
  };
}

function edgeCertificate(at?: string): Promise<string> {
  return readSecret(lab, 'parley-tls', 'tls.crt', at);
}
