/** From an HTTP upgrade to a connection: guards with early return, each with its own status; visitors of pages are told on the socket. SPEC rules JOIN-5, PAGE-5. */
import { STATUS_CODES, type IncomingMessage, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { CODES, type Code } from '@parley/protocol/codes';
import { SOCKET_PATH } from '@parley/protocol/http';
import { parseRoomId, type RoomId } from '@parley/protocol/ids';
import { PAGES_SOCKET } from '@parley/protocol/pages';
import type { Config } from './config.ts';
import { Connection } from './connection.ts';
import type { SignalingPod } from './pod.ts';
import { addressOf, isOriginAllowed, traceOf } from './visitor.ts';
import { VisitorConnection } from './visitor-connection.ts';

export function acceptSockets(server: Server, pod: SignalingPod, config: Config): void {
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: config.limits['message.bytes'],
    // Three times the CPU and 180 KB a connection; clients deflate what is worth it themselves.
    perMessageDeflate: false,
  });
  let lastId = 0;

  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    // Before the first thing that may fail, so that a reset never becomes an uncaught error.
    stream.on('error', () => stream.destroy());
    const address = addressOf(request, config.trustedProxies);
    if (isForPages(request.url ?? '')) {
      if (!isOriginAllowed(request, config.allowedOrigins)) return refuseUpgrade(stream, 'ORIGIN_DENIED');
      return sockets.handleUpgrade(request, stream, head, (socket) => {
        lastId += 1;
        const connection = new VisitorConnection(pod.pages, socket, stream, { id: lastId, address });
        const refused = pod.isDraining ? 'NOT_READY' : crowded(pod, config, address);
        if (refused === undefined) pod.acceptVisitor(connection);
        else connection.end(refused);
      });
    }
    const room = roomOf(request.url ?? '');
    const refused = room === undefined ? 'NOT_FOUND' : refusal(request, pod, config, { address, room });
    if (refused !== undefined || room === undefined) return refuseUpgrade(stream, refused ?? 'NOT_FOUND');
    sockets.handleUpgrade(request, stream, head, (socket) => {
      lastId += 1;
      pod.accept(new Connection(pod, socket, stream, { id: lastId, room, address, trace: traceOf(request) }));
    });
  });
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
  if (!isOriginAllowed(request, config.allowedOrigins)) return 'ORIGIN_DENIED';
  if (!pod.admits(room)) return 'NOT_READY';
  return crowded(pod, config, address);
}

function crowded(pod: SignalingPod, { limits }: Config, address: string): Code | undefined {
  if (pod.socketCount >= limits['pod.sockets']) return 'POD_FULL';
  return pod.socketsOf(address) >= limits['address.sockets'] ? 'TOO_MANY_SOCKETS' : undefined;
}

function refuseUpgrade(stream: Duplex, code: Code): void {
  const { http, meaning, retry } = CODES[code];
  const status = http ?? 500;
  const body = JSON.stringify({ code, message: meaning });
  // The other side may never close its half.
  stream.once('finish', () => stream.destroy());
  stream.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      'connection: close',
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      ...(retry ? ['retry-after: 2'] : []),
      '',
      body,
    ].join('\r\n'),
  );
}
