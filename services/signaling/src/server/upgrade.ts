/**
 * From an HTTP upgrade to a connection: guards with early return, each with its own status; visitors of pages get the refusal on the socket. SPEC
 * rules JOIN-5, PAGE-5.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Code } from '@parley/protocol/codes';
import { SOCKET_PATH } from '@parley/protocol/http';
import { parseRoomId, type RoomId } from '@parley/protocol/ids';
import { PAGES_SOCKET } from '@parley/protocol/pages';
import type { Config } from './config.ts';
import { Connection } from './connection.ts';
import type { SignalingPod } from './pod.ts';
import { refuseRaw } from './refusal.ts';
import { addressOf, isOriginAllowed, requestIdOf } from './visitor.ts';
import { VisitorConnection } from './visitor-connection.ts';

/**
 * The most sockets of visitors that are open only to receive a refusal; beyond it, visitors are refused by status. No pod counts these among its
 * sockets, so this bounds what they hold. It is enough for the browsers that a full pod refuses within the two seconds that one may take to close.
 */
const MAX_REFUSED_SOCKETS = 64;

export function acceptSockets(server: Server, pod: SignalingPod, config: Config): void {
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: config.limits['message.bytes'],
    maxFragments: config.limits['message.fragments'],
    maxBufferedChunks: config.limits['message.chunks'],
    // Compression takes three times the CPU and 180 KB per connection; clients compress what is worth it themselves.
    perMessageDeflate: false,
  });
  let lastId = 0;
  let refusedNow = 0;
  const refuse = (stream: Duplex, code: Code): void => {
    pod.metrics.refusals.inc({ code });
    refuseRaw(stream, code);
  };
  // Otherwise `ws` writes its own answer.
  sockets.on('wsClientError', (_error, stream) => {
    pod.metrics.refusals.inc({ code: 'BAD_REQUEST' });
    refuseRaw(stream, 'BAD_REQUEST', ['sec-websocket-version: 13']);
  });

  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    // Before the first step that may fail, so that a reset never becomes an uncaught error.
    destroyOnError(stream);
    const address = addressOf(request, config.trustedProxies);
    if (isForPages(request.url ?? '')) {
      if (!isOriginAllowed(request, config)) return refuse(stream, 'ORIGIN_DENIED');
      const refused = pod.isDraining ? 'NOT_READY' : crowded(pod, config, address);
      if (refused !== undefined && refusedNow >= MAX_REFUSED_SOCKETS) return refuse(stream, refused);
      return sockets.handleUpgrade(request, stream, head, (socket) => {
        lastId += 1;
        const connection = new VisitorConnection(pod.pages, { socket, stream, address }, lastId);
        if (refused === undefined) return pod.acceptVisitor(connection);
        refusedNow += 1;
        socket.once('close', () => (refusedNow -= 1));
        connection.end(refused);
      });
    }
    const room = roomOf(request.url ?? '');
    const refused = room === undefined ? 'NOT_FOUND' : refusal(request, pod, config, { address, room });
    if (refused !== undefined || room === undefined) return refuse(stream, refused ?? 'NOT_FOUND');
    const requestId = requestIdOf(request, config.trustedProxies);
    sockets.handleUpgrade(request, stream, head, (socket) => {
      lastId += 1;
      const about = { id: lastId, room, requestId };
      pod.accept(new Connection(pod, { socket, stream, address }, about));
    });
  });
}

/** Not a closure of the upgrade's own scope: the listener lives as long as the socket, and would keep the request alive for so long. */
function destroyOnError(stream: Duplex): void {
  stream.on('error', () => stream.destroy());
}

const isForPages = (url: string): boolean => url.split('?', 1)[0] === PAGES_SOCKET;

function roomOf(url: string): string | undefined {
  const name = SOCKET_PATH.exec(url)?.[1];
  if (name === undefined) return undefined;
  try {
    return parseRoomId(decodeURIComponent(name))?.room;
  } catch {
    return undefined;
  }
}

function refusal(
  request: IncomingMessage,
  pod: SignalingPod,
  config: Config,
  { address, room }: { address: string; room: RoomId },
): Code | undefined {
  if (!isOriginAllowed(request, config)) return 'ORIGIN_DENIED';
  if (!pod.admits(room)) return 'NOT_READY';
  return crowded(pod, config, address);
}

function crowded(pod: SignalingPod, { limits }: Config, address: string): Code | undefined {
  if (pod.socketCount >= limits['pod.sockets']) return 'POD_FULL';
  return pod.socketsOf(address) >= limits['address.sockets'] ? 'TOO_MANY_SOCKETS' : undefined;
}
