import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { envoySpec } from '../src/envoy.ts';
import { answersOk, localhost, type Site } from '../src/site.ts';
import { ensureRunning } from '../src/supervise.ts';
import { scratchSite } from './scratch.ts';

// The real edge in front of servers whose answers contain their name and the request.

/** Headers that ask for a WebSocket. */
export const upgrade = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'x',
};

export interface Edge {
  readonly site: Site;
  readonly log: string;
  ask(path: string, question?: Question): Promise<Answer>;
  backend(name: string): Backend;
  /** Ends the server behind the edge. */
  stop(name: string): Promise<void>;
}

export interface Question {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly tls?: boolean;
  /** The address of this machine that asks, at the edge's address of the same family. */
  readonly from?: string;
  /** Whether a socket that was opened stays open, until the edge ends. */
  readonly keepOpen?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Which server behind the edge answered, the path that it was asked for, and the headers that it got. */
  readonly backend: string;
  readonly path: string;
  readonly forwarded: Record<string, string | undefined>;
  /** The client's end of a socket that stays. */
  readonly socket: Duplex;
}

export interface Backend {
  readonly server: Server;
  /** Its ends of sockets that are open. */
  readonly sockets: Set<Duplex>;
  /** What it answers to an upgrade instead of 101. */
  refusal: number | undefined;
}

export async function startEdge(
  t: { after(work: () => unknown): void },
  env: NodeJS.ProcessEnv = {},
): Promise<Edge> {
  const site = await scratchSite(t, env);
  const backends = new Map<string, Backend>();
  for (const name of [
    'pod1',
    'pod2',
    'relay1',
    'relay2',
    'relay1MediaSocket',
    'relay2MediaSocket',
    'web',
  ] as const) {
    backends.set(name, await startBackend(name, site.ports[name]));
  }
  const backend = (name: string) => {
    const found = backends.get(name);
    if (!found) throw new Error(`nothing behind the edge is named ${name}`);
    return found;
  };
  const stop = async (name: string) => {
    const { server, sockets } = backend(name);
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    if (server.listening) await once(server.close(), 'close');
  };
  t.after(() => Promise.all([...backends.keys()].map(stop)));
  const { log } = (await ensureRunning(site.dir, envoySpec(site))).record;
  return { site, log, ask: (path, question) => askEdge(site, path, question), backend, stop };
}

async function askEdge(
  { ports }: Site,
  path: string,
  { method = 'GET', headers = {}, tls = false, from = localhost, keepOpen = false }: Question = {},
): Promise<Answer> {
  const target = { host: from.includes(':') ? '::1' : localhost, localAddress: from, path, method, headers };
  const options = { ...target, agent: false, rejectUnauthorized: false };
  const request = tls
    ? httpsRequest({ ...options, port: ports.edgeTls })
    : httpRequest({ ...options, port: ports.edge });
  request.end();
  const signal = AbortSignal.timeout(10_000);
  const [response] = (await Promise.race([
    once(request, 'response', { signal }),
    once(request, 'upgrade', { signal }),
  ])) as [IncomingMessage];
  const { statusCode: status = 0, socket } = response;
  if (status === 101 && !keepOpen) socket.destroy();
  const chunks: Buffer[] = [];
  if (status !== 101) for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    status,
    headers: response.headers,
    body: Buffer.concat(chunks).toString(),
    backend: String(response.headers['x-backend']),
    path: String(response.headers['x-path']),
    forwarded: JSON.parse(String(response.headers['x-received'] ?? '{}')) as Record<string, string>,
    socket,
  };
}

async function startBackend(name: string, port: number): Promise<Backend> {
  const backend: Backend = { server: createServer(), sockets: new Set(), refusal: undefined };
  backend.server.on('request', (request, response) => {
    response.setHeader('x-backend', name);
    response.setHeader('x-path', request.url ?? '');
    response.setHeader('x-received', JSON.stringify(request.headers));
    // A pod reads what it is sent before it answers.
    request.resume().once('end', () => response.end(name));
  });
  backend.server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => undefined);
    socket.on('end', () => socket.end());
    socket.resume();
    if (backend.refusal !== undefined) {
      socket.end(`HTTP/1.1 ${backend.refusal} No\r\nx-backend: ${name}\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    backend.sockets.add(socket);
    socket.on('close', () => backend.sockets.delete(socket));
    const headers = `x-backend: ${name}\r\nx-path: ${request.url}`;
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n${headers}\r\n\r\n`,
    );
  });
  backend.server.listen(port, localhost);
  await once(backend.server, 'listening');
  await answersOk(`http://${localhost}:${port}/`);
  return backend;
}
