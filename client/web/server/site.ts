/** The built application over HTTP: files, the pages of the application, and 404 for the rest. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import sirv from 'sirv';
import { isPage } from '../src/route.ts';
import { FRAME_PATH } from '../src/shared-pages/content/content-policy.ts';
import { framePolicy, securityHeaders, type HeaderOptions } from './headers.ts';

export interface SiteOptions extends HeaderOptions {
  /** The folder that `vite build` wrote. */
  readonly root: string;
}

/** Vite puts a hash of the content into every name under `assets/`. */
const HASHED = /^\/assets\//;
const A_YEAR = 'public, max-age=31536000, immutable';
/** The edge reuses a connection that was idle for up to 60 s: one that we end sooner could meet its next request. */
const IDLE_MS = 75_000;
/** Clients revalidate on each use; the answer is 304 while the file is unchanged. */
const REVALIDATE = 'no-cache';

export function createSite(options: SiteOptions): Server {
  const page = readPage(options.root);
  const files = sirv(options.root, {
    gzip: true,
    brotli: true,
    etag: true,
    extensions: [],
    setHeaders: (response, path) => {
      response.setHeader('cache-control', HASHED.test(path) ? A_YEAR : REVALIDATE);
    },
  });

  return createServer({ keepAliveTimeout: IDLE_MS }, (request, response) => {
    const path = pathOf(request);
    const headers = {
      ...securityHeaders(request.headers, options),
      ...(path === FRAME_PATH ? framePolicy(options) : {}),
    };
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (path === '/healthz') {
      send(response, { status: 200, type: 'text/plain', body: 'ok\n', cache: 'no-store' });
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      send(response, { status: 405, type: 'text/plain', body: 'Method not allowed\n', cache: 'no-store' });
    } else if (path !== undefined && isPage(path)) {
      sendPage(request, response, { page, status: 200 });
    } else {
      files(request, response, () => notFound(request, response, page));
    }
  });
}

/** `undefined` if the address cannot be parsed. */
function pathOf(request: IncomingMessage): string | undefined {
  try {
    return decodeURI((request.url ?? '/').split(/[?#]/)[0] ?? '/');
  } catch {
    return undefined;
  }
}

interface Page {
  readonly plain: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

/** Throws at startup if there is no build. */
function readPage(root: string): Page {
  const read = (ending: string) => readFileSync(join(root, `index.html${ending}`));
  return { plain: read(''), br: read('.br'), gzip: read('.gz') };
}

function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  { page, status }: { readonly page: Page; readonly status: number },
): void {
  const accepted = [request.headers['accept-encoding'] ?? ''].flat().join();
  const encoding = /\bbr\b/.test(accepted) ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : null;
  response.setHeader('vary', 'accept-encoding');
  if (encoding) response.setHeader('content-encoding', encoding);
  send(response, {
    status,
    type: 'text/html',
    body: page[encoding ?? 'plain'],
    cache: status === 200 ? REVALIDATE : 'no-store',
  });
}

/** A browser gets the page of the application, a program a line of text. */
function notFound(request: IncomingMessage, response: ServerResponse, page: Page): void {
  if (/text\/html/.test(request.headers.accept ?? '')) sendPage(request, response, { page, status: 404 });
  else send(response, { status: 404, type: 'text/plain', body: 'Not found\n', cache: 'no-store' });
}

interface Sent {
  readonly status: number;
  readonly type: string;
  readonly body: string | Buffer;
  readonly cache: string;
}

function send(response: ServerResponse, { status, type, body, cache }: Sent): void {
  response.statusCode = status;
  response.setHeader('content-type', `${type}; charset=utf-8`);
  response.setHeader('cache-control', cache);
  response.setHeader('content-length', Buffer.byteLength(body));
  response.end(body);
}
