/** The HTTP side of a pod: /v1, health and metrics. Fastify parses, routes and bounds; the handlers decide. */
import type { Duplex } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Code } from '@parley/protocol/codes';
import { ROUTES } from '@parley/protocol/http';
import { refuse, refuseRaw } from './refusal.ts';
import { ban, listBans, unban } from './routes/bans.ts';
import { changeRoom } from './routes/change-room.ts';
import type { RouteContext } from './routes/context.ts';
import { createRoom } from './routes/create-room.ts';
import { deleteRoom } from './routes/delete-room.ts';
import { joinRoom } from './routes/join-room.ts';
import { listParticipants } from './routes/list-participants.ts';
import { moderate } from './routes/moderate.ts';
import { openLive } from './routes/open-live.ts';
import { readRoom } from './routes/read-room.ts';
import { isOriginAllowed } from './visitor.ts';

const REQUEST_WITHIN_MS = 10_000;
const HEADERS_WITHIN_MS = 5000;

type RoomRequest = FastifyRequest<{ Params: { room: string } }>;
type PersonRequest = FastifyRequest<{ Params: { room: string; participant: string } }>;
type LiveRequest = FastifyRequest<{ Params: { name: string } }>;
type BanRequest = FastifyRequest<{ Params: { room: string; ban: string } }>;

export function createHttp(context: RouteContext): FastifyInstance {
  const { config, pod, log } = context;
  const app = Fastify({
    bodyLimit: config.limits['body.bytes'],
    // A client that trickles its request, or says nothing, holds a socket for no longer than this; looked at once a second.
    requestTimeout: REQUEST_WITHIN_MS,
    http: {
      headersTimeout: HEADERS_WITHIN_MS,
      connectionsCheckingInterval: 1000,
      // Node.js would answer without a body.
      requireHostHeader: false,
    },
    keepAliveTimeout: 75_000,
    routerOptions: { maxParamLength: 100 },
    return503OnClosing: false,
    // What the router refuses passes no hook and no handler.
    frameworkErrors: (_error, _request, reply) => {
      pod.metrics.refusals.inc({ code: 'BAD_REQUEST' });
      refuse(reply, 'BAD_REQUEST');
    },
    clientErrorHandler: (error, stream) => onBadBytes(context, error, stream),
  });
  // An expectation that Node.js does not know, to which it would answer without a body.
  app.server.on('checkExpectation', ({ socket }) => {
    pod.metrics.refusals.inc({ code: 'BAD_REQUEST' });
    refuseRaw(socket, 'BAD_REQUEST');
  });

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

  app.post(ROUTES.createRoom.path, (request, reply) => createRoom(context, request, reply));
  app.get(ROUTES.readRoom.path, (request: RoomRequest, reply) => readRoom(context, request, reply));
  app.delete(ROUTES.deleteRoom.path, (request: RoomRequest, reply) => deleteRoom(context, request, reply));
  app.post(ROUTES.joinRoom.path, (request: RoomRequest, reply) => joinRoom(context, request, reply));
  app.patch(ROUTES.changeRoom.path, (request: RoomRequest, reply) => changeRoom(context, request, reply));
  app.get(ROUTES.listBans.path, (request: RoomRequest, reply) => listBans(context, request, reply));
  app.delete(ROUTES.unban.path, (request: BanRequest, reply) => unban(context, request, reply));
  app.get(ROUTES.listParticipants.path, (request: RoomRequest, reply) =>
    listParticipants(context, request, reply),
  );
  app.post(ROUTES.ban.path, (request: PersonRequest, reply) => ban(context, request, reply));
  for (const [{ path }, action] of [
    [ROUTES.kick, 'kick'],
    [ROUTES.requestMute, 'request-mute'],
    [ROUTES.admit, 'admit'],
    [ROUTES.deny, 'deny'],
  ] as const)
    app.post(path, (request: PersonRequest, reply) => moderate(context, action, request, reply));
  app.post(ROUTES.openLive.path, (request: LiveRequest, reply) => openLive(context, request, reply));
  app.options('/v1/*', (_request, reply) => reply.code(204).send());

  app.get('/healthz', (_request, reply) => reply.send({ status: 'live', pod: config.pod }));
  app.get('/readyz', (_request, reply) =>
    reply.code(pod.isReady ? 200 : 503).send({ ready: pod.isReady, draining: pod.isDraining }),
  );
  app.get('/metrics', async (_request, reply) =>
    reply.type(pod.metrics.registry.contentType).send(await pod.metrics.registry.metrics()),
  );

  app.setNotFoundHandler((_request, reply) => refuse(reply, 'NOT_FOUND'));
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    if (error.statusCode === 413) return refuse(reply, 'BODY_TOO_LARGE');
    if (error.statusCode !== undefined && error.statusCode < 500)
      return refuse(reply, 'BAD_REQUEST', error.message);
    log.error({ error: error.message, stack: error.stack }, 'request failed');
    return refuse(reply, 'INTERNAL');
  });
  return app;
}

/** For pages on other origins that the operator allowed. */
function allowCrossOrigin(allowed: readonly string[], request: FastifyRequest, reply: FastifyReply): void {
  const { origin } = request.headers;
  if (origin === undefined || !allowed.includes(origin)) return;
  reply.header('access-control-allow-origin', origin).header('vary', 'origin');
  reply
    .header('access-control-allow-methods', 'GET, POST, PATCH, DELETE')
    .header('access-control-allow-headers', 'authorization, content-type');
  reply.header('access-control-expose-headers', 'retry-after').header('access-control-max-age', '600');
}

/** Bytes that are no request, or not in time. Pods are reached through the edge alone, so that a cap on connections per network is the edge's. */
function onBadBytes({ pod }: RouteContext, error: Error & { code?: string }, stream: Duplex): void {
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
