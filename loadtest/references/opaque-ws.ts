/**
 * How far Node can go: the dialect of `naive-ws.ts` on raw upgrade sockets. The payload of a signal is never parsed, all that is said to a
 * socket in one turn of the event loop leaves in one write. It admits everyone, bounds nothing and forgives nothing: a yardstick, no server.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { CLOSE, FrameReader, PING, PONG, TEXT, writeHead } from '../src/frames.ts';

interface Client {
  readonly stream: Duplex;
  /** Frames that leave at the end of this turn. */
  frames: Buffer[];
  room: Room | undefined;
  me: string;
  /** The start of every signal this client sends, as its readers see it. */
  from: Buffer;
}
interface Room {
  readonly name: string;
  readonly clients: Map<string, Client>;
}

const SIGNAL_TO = Buffer.from('{"type":"signal","to":"');
const QUOTE = 0x22;
const rooms = new Map<string, Room>();
let waiting: Client[] = [];

function say(client: Client, frame: Buffer): void {
  if (client.frames.length === 0) {
    if (waiting.length === 0) setImmediate(flush);
    waiting.push(client);
  }
  client.frames.push(frame);
}

function flush(): void {
  const clients = waiting;
  waiting = [];
  for (const client of clients) {
    const [only] = client.frames;
    client.stream.write(client.frames.length === 1 && only ? only : Buffer.concat(client.frames));
    client.frames = [];
  }
}

/** A frame with room for a payload of `length` bytes, and where that starts. */
function frameFor(opcode: number, length: number): { frame: Buffer; at: number } {
  const frame = Buffer.allocUnsafe(length + (length < 126 ? 2 : length > 0xffff ? 10 : 4));
  return { frame, at: writeHead(frame, 0, opcode, length, 0) };
}

function sayJson(client: Client, message: unknown): void {
  const text = JSON.stringify(message);
  const { frame, at } = frameFor(TEXT, Buffer.byteLength(text));
  frame.write(text, at);
  say(client, frame);
}

/** `{"type":"signal","to":"x","data":…}` becomes `{"type":"signal","from":"y","data":…}` without a look at the data. */
function relay(client: Client, bytes: Buffer, start: number, end: number): void {
  const quote = bytes.indexOf(QUOTE, start + SIGNAL_TO.length);
  const to = client.room?.clients.get(bytes.toString('latin1', start + SIGNAL_TO.length, quote));
  if (to === undefined) return;
  const { frame, at } = frameFor(TEXT, client.from.length + end - quote);
  client.from.copy(frame, at);
  bytes.copy(frame, at + client.from.length, quote, end);
  say(to, frame);
}

function join(client: Client, text: string): void {
  const { room: name, peer } = JSON.parse(text) as { room: string; peer: string };
  const room = rooms.get(name) ?? { name, clients: new Map<string, Client>() };
  rooms.set(name, room);
  client.room = room;
  client.me = peer;
  client.from = Buffer.from(`{"type":"signal","from":"${peer}`);
  sayJson(client, { type: 'joined', peers: [...room.clients.keys()] });
  for (const other of room.clients.values()) sayJson(other, { type: 'peer-joined', peer });
  room.clients.set(peer, client);
}

function leave(client: Client): void {
  const { room, me } = client;
  if (room === undefined) return;
  client.room = undefined;
  room.clients.delete(me);
  if (room.clients.size === 0) rooms.delete(room.name);
  for (const other of room.clients.values()) sayJson(other, { type: 'peer-left', peer: me });
}

function onFrame(client: Client, opcode: number, bytes: Buffer, start: number, end: number): void {
  if (opcode === CLOSE) {
    client.stream.end();
    return leave(client);
  }
  if (opcode === PING) {
    const { frame, at } = frameFor(PONG, end - start);
    bytes.copy(frame, at, start, end);
    return say(client, frame);
  }
  if (bytes.compare(SIGNAL_TO, 0, SIGNAL_TO.length, start, Math.min(end, start + SIGNAL_TO.length)) === 0) {
    return relay(client, bytes, start, end);
  }
  return join(client, bytes.toString('utf8', start, end));
}

const server = createServer((_request, response) => response.writeHead(426).end());
server.on('upgrade', (request, stream) => {
  const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = createHash('sha1').update(key).digest('base64');
  stream.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  const client: Client = { stream, frames: [], room: undefined, me: '', from: Buffer.alloc(0) };
  const reader = new FrameReader();
  stream.on('data', (chunk: Buffer) => {
    const isFine = reader.feed(chunk, (opcode, bytes, start, end) =>
      onFrame(client, opcode, bytes, start, end),
    );
    if (!isFine) stream.destroy();
  });
  stream.on('close', () => leave(client));
  stream.on('error', () => stream.destroy());
});
server.listen(Number(process.argv[2]), '127.0.0.1');
