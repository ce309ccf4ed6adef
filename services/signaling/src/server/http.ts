/** The HTTP side of a pod. Fastify parses requests, routes and limits them; the handlers in `routes` decide. */
import type { Duplex } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Code } from '@parley/protocol/codes';
import { refuse, refuseRaw } from './refusal.ts';
import type { RouteContext } from './routes/context.ts';
import { addHealthRoutes } from './routes/health.ts';
import { promoteRegion } from './routes/promote-region.ts';
import { addRoutes } from './routes/routes.ts';
import { isOriginAllowed, requestIdOf } from './visitor.ts';

const REQUEST_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 5000;
/** An edge whose node is lost is detected after this and ten more seconds, as Node.js ends a connection after ten probes, one a second. */
const PROBE_AFTER_MS = 1000;

export function createHttp(context: RouteContext): FastifyInstance {
  const app = createServer(context);
  addHooks(app, context);
  addRoutes(app, context);
  addHealthRoutes(app, context);
  app.post('/admin/homes/:region/promote', (request: FastifyRequest<{ Params: { region: string } }>, reply) =>
    promoteRegion(context, request, reply),
  );
  addErrorHandlers(app, context);
  return app;
}

function createServer(context: RouteContext): FastifyInstance {
  const { config, pod } = context;
  const app = Fastify({
    bodyLimit: config.limits['body.bytes'],
    genReqId: (request) => requestIdOf(request, config.trustedProxies),
    // A client that sends its request slowly, or sends nothing, keeps a socket for no longer than this. Checked once a second.
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: 1000,
      keepAlive: true,
      keepAliveInitialDelay: PROBE_AFTER_MS,
      // Node.js would answer without a body.
      requireHostHeader: false,
    },
    keepAliveTimeout: 75_000,
    routerOptions: { maxParamLength: 100 },
    return503OnClosing: false,
    // A request that the router refuses passes no hook and no handler.
    frameworkErrors: (_error, _request, reply) => {
      pod.metrics.refusals.inc({ code: 'BAD_REQUEST' });
      refuse(reply, 'BAD_REQUEST');
    },
    clientErrorHandler: (error, stream) => onInvalidBytes(context, error, stream),
  });
  // An `Expect` header that Node.js does not know, to which it would answer without a body.
  app.server.on('checkExpectation', ({ socket }) => {
    pod.metrics.refusals.inc({ code: 'BAD_REQUEST' });
    refuseRaw(socket, 'BAD_REQUEST');
  });
  return app;
}

function addHooks(app: FastifyInstance, { config, pod }: RouteContext): void {
  app.addHook('onRequest', async (request, reply) => {
    if (request.headers.host === undefined) return refuse(reply, 'BAD_REQUEST');
    if (!request.url.startsWith('/v1')) return undefined;
    if (!isOriginAllowed(request.raw, config)) return refuse(reply, 'ORIGIN_DENIED');
    allowCrossOrigin(config.allowedOrigins, request, reply);
    return undefined;
  });
  app.decorateReply('refusal', null);
  app.addHook('onResponse', async (_request, reply) => {
    if (reply.refusal !== null) pod.metrics.refusals.inc({ code: reply.refusal });
  });
}

function addErrorHandlers(app: FastifyInstance, { log }: RouteContext): void {
  app.setNotFoundHandler((_request, reply) => refuse(reply, 'NOT_FOUND'));
  app.setErrorHandler((error: Error & { statusCode?: number }, { id: requestId }, reply) => {
    if (error.statusCode === 413) return refuse(reply, 'BODY_TOO_LARGE');
    if (error.statusCode !== undefined && error.statusCode < 500)
      return refuse(reply, 'BAD_REQUEST', error.message);
    log.error({ requestId, error: error.message, stack: error.stack }, 'request failed');
    return refuse(reply, 'INTERNAL');
  });
}

/** CORS, for pages on other origins that the operator allowed. */
function allowCrossOrigin(allowed: readonly string[], request: FastifyRequest, reply: FastifyReply): void {
  const { origin } = request.headers;
  if (origin === undefined || !allowed.includes(origin)) return;
  reply.header('access-control-allow-origin', origin).header('vary', 'origin');
  reply
    .header('access-control-allow-methods', 'GET, POST, PATCH, DELETE')
    .header('access-control-allow-headers', 'authorization, content-type, traceparent');
  reply.header('access-control-expose-headers', 'retry-after').header('access-control-max-age', '600');
}

/** Bytes that are not a request, or a request that is late. All connections come from the edge, so a cap on connections per network is the edge's. */
function onInvalidBytes({ pod }: RouteContext, error: Error & { code?: string }, stream: Duplex): void {
  if (error.code === 'ECONNRESET' || !stream.writable) {
    stream.destroy();
    return;
  }
  const code = BYTES_REFUSED[error.code ?? ''] ?? 'BAD_REQUEST';
  pod.metrics.refusals.inc({ code });
  refuseRaw(stream, code);
}

const BYTES_REFUSED: Readonly<Record<string, Code>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'BODY_TOO_LARGE',
};
