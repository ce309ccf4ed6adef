/**
 * The reference for a whole join: what one writes in a day with fastify, `jose` and `ws` for the work of a pod, in the pod's own protocol.
 * Admission by POST, a ticket that is signed and verified, a resume token, TURN credentials, a welcome with the roster, and directed messages
 * whose payload is not parsed. One process: no bus, and no limits, pings, metrics or logs.
 */
import { createHmac, randomBytes } from 'node:crypto';
import Fastify from 'fastify';
import { SignJWT, generateKeyPair, jwtVerify } from 'jose';
import { WebSocketServer, type WebSocket } from 'ws';
import { participantId } from '@parley/protocol/ids';

interface Member {
  readonly participant: string;
  readonly name: string;
  readonly media: unknown;
  readonly state: 'here';
}
interface Client {
  readonly socket: WebSocket;
  readonly member: Member;
}
interface Enter {
  readonly type: 'enter';
  readonly ticket: string;
  readonly generation: number;
  readonly name: string;
  readonly media: unknown;
}

const TICKET_TTL_MS = 30_000;
const RESUME_TTL_S = 86_400;
const TURN_TTL_S = 3600;
const ROOM_OF_SOCKET = /^\/v1\/rooms\/([^/?]+)\/socket$/;
const TURN_SECRET = randomBytes(24).toString('hex');
const TURN_URLS = ['turn:192.0.2.1:3478?transport=udp', 'turn:192.0.2.1:3478?transport=tcp'];
const STUN_URLS = ['stun:192.0.2.1:3478'];

const rooms = new Map<string, Map<string, Client>>();
const { privateKey, publicKey } = await generateKeyPair('EdDSA');

const sign = (claims: Record<string, unknown>, subject: string, audience: string, ttlS: number) =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: 'EdDSA', kid: 'bench' })
    .setIssuer('equal-work')
    .setSubject(subject)
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime(`${ttlS}s`)
    .sign(privateKey);

/** As in coturn's REST API: the user name is `expiry:participant`, the password its HMAC. */
function iceServers(participant: string): unknown[] {
  const username = `${Math.floor(Date.now() / 1000) + TURN_TTL_S}:${participant}`;
  const credential = createHmac('sha1', TURN_SECRET).update(username).digest('base64');
  return [{ urls: STUN_URLS }, { urls: TURN_URLS, username, credential }];
}

const viewOf = (room: string) => ({ room, kind: 'ad-hoc', homeRegion: null, cap: 100, locked: false });

const app = Fastify();
const schema = { body: { type: 'object', properties: { name: { type: 'string', maxLength: 64 } } } };
app.post<{ Params: { room: string } }>('/v1/rooms/:room/join', { schema }, async (request, reply) => {
  const { room } = request.params;
  const participant = participantId(randomBytes(16));
  const ticket = await sign({ room }, participant, 'ticket', TICKET_TTL_MS / 1000);
  const socketUrl = `ws://${request.host}/v1/rooms/${room}/socket`;
  reply.header('cache-control', 'no-store');
  return { participant, ticket, ticketTtlMs: TICKET_TTL_MS, socketUrl, room: viewOf(room) };
});

const sockets = new WebSocketServer({ server: app.server });
sockets.on('connection', (socket, { url = '' }) => {
  const room = ROOM_OF_SOCKET.exec(url)?.[1] ?? '';
  let me = '';

  const sendToOthers = (message: unknown): void => {
    const text = JSON.stringify(message);
    for (const [participant, other] of rooms.get(room) ?? []) {
      if (participant !== me) other.socket.send(text);
    }
  };

  const enter = async ({ ticket, generation, name, media }: Enter): Promise<void> => {
    const { payload } = await jwtVerify(ticket, publicKey, { issuer: 'equal-work', audience: 'ticket' });
    const participant = payload.sub ?? '';
    if (payload['room'] !== room) throw new Error('a ticket of another room');
    const resume = await sign({ room, generation, since: Date.now() }, participant, 'resume', RESUME_TTL_S);
    if (socket.readyState !== socket.OPEN) return;
    const clients = rooms.get(room) ?? new Map<string, Client>();
    if (clients.has(participant)) throw new Error('the ticket was used');
    rooms.set(room, clients);
    me = participant;
    const member: Member = { participant, name, media, state: 'here' };
    clients.set(participant, { socket, member });
    const roster = Array.from(clients.values(), (client) => client.member);
    const ice = { iceServers: iceServers(participant), iceTtlS: TURN_TTL_S };
    socket.send(
      JSON.stringify({ type: 'welcome', participant, room: viewOf(room), roster, resume, ...ice, chat: [] }),
    );
    sendToOthers({ type: 'joined', member });
  };

  /** `>{participant} {id}\n{payload}` becomes `<{participant}\n{payload}`. */
  const relay = (text: string): void => {
    const newline = text.indexOf('\n');
    const [to = '', id] = text.slice(1, newline).split(' ');
    const reader = rooms.get(room)?.get(to);
    if (reader === undefined) socket.send(JSON.stringify({ type: 'undelivered', to, id, reason: 'unknown' }));
    else reader.socket.send(`<${me}\n${text.slice(newline + 1)}`);
  };

  const leave = (): void => {
    const clients = rooms.get(room);
    if (clients?.delete(me) !== true) return;
    if (clients.size === 0) rooms.delete(room);
    sendToOthers({ type: 'left', participant: me, reason: 'left' });
  };

  socket.on('message', (data) => {
    const text = (data as Buffer).toString();
    if (text.startsWith('>')) return relay(text);
    const message = JSON.parse(text) as Enter | { readonly type: 'leave' };
    if (message.type === 'leave') return leave();
    enter(message).catch((error: unknown) => socket.close(1008, String(error)));
    return undefined;
  });
  socket.on('close', leave);
  socket.on('error', () => socket.terminate());
});

await app.listen({ host: '127.0.0.1', port: Number(process.argv[2]) });
