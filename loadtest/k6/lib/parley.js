/** Parley's protocol as k6 speaks it (services/protocol/SPEC.md). Codes and limits come from the protocol's own tables. */
import { WebSocket } from 'k6/websockets';
import http from 'k6/http';

const generated = (name) =>
  JSON.parse(open(import.meta.resolve(`../../../services/protocol/generated/${name}.json`)));

const CODES = generated('codes');
const LIMITS = generated('limits');
export const CODE_NAMES = Object.keys(CODES);
export const limit = (name) => LIMITS[name].value;

const CODE_OF_CLOSE = new Map(
  Object.entries(CODES).flatMap(([code, { close }]) => (close === null ? [] : [[close, code]])),
);
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** `<p0123456789abcdef\n` */
const FROM_END = 18;

/** An unused room (ROOM-1). */
export function newRoom() {
  const group = () =>
    Array.from({ length: 4 }, () => ALPHABET.charAt(Math.floor(Math.random() * 32))).join('');
  return [group(), group(), group(), group()].join('-');
}

/** Throws a sentence where no pod answers behind the edge. */
export function requireUp(site) {
  const answer = http.get(`${site}/v1/rooms/${newRoom()}`, { tags: { name: 'setup' }, timeout: '5s' });
  if (answer.status !== 200) {
    const why = answer.status === 0 ? answer.error : `${answer.status} ${answer.body}`;
    throw new Error(`no Parley answers at ${site} (${why}): start one with "make up", or run "make herd"`);
  }
}

/**
 * Asks for a ticket (JOIN-1, JOIN-2). `pod`: any word, which the edge hashes to a pod; without it, the room. `slot`: what a busy pod gave. A
 * refusal has its code, and where a retry may succeed the time to wait; that of a busy pod also has a slot to come with.
 */
export function askToJoin(site, room, { name, pod, slot }) {
  const answer = http.post(`${site}/v1/rooms/${room}/join`, JSON.stringify({ name, slot }), {
    headers: { 'content-type': 'application/json' },
    cookies: pod === undefined ? {} : { 'parley-affinity': pod },
    tags: { name: 'join' },
    timeout: '10s',
  });
  if (answer.status === 200) return { joined: answer.json(), tookMs: answer.timings.duration };
  const body = bodyOf(answer);
  const seconds = Number(answer.headers['Retry-After']);
  return {
    refused: answer.status === 0 ? 'NO_ANSWER' : (body.code ?? 'UNKNOWN'),
    retryAfterMs: body.retryAfterMs ?? (Number.isFinite(seconds) ? 1000 * seconds : undefined),
    slot: body.slot,
    tookMs: answer.timings.duration,
    detail: `join answered ${answer.status} ${answer.error || answer.body}`,
  };
}

const MEDIA = { audio: true, video: true, screen: false };

/** Opens the socket and enters (JOIN-5, JOIN-6). `listener`: as for `openSocket`. */
export function enter({ socketUrl, ticket }, { name, pod, generation = 1 }, listener) {
  return openSocket(socketUrl, { type: 'enter', ticket, generation, name, media: MEDIA }, { pod, listener });
}

/** Opens another socket of the same participant (RES-3). */
export function resume({ socketUrl, token }, { name, generation }, listener) {
  return openSocket(
    socketUrl,
    { type: 'resume', token, generation, name, media: MEDIA, chat: [] },
    { listener },
  );
}

/** `listener` has onWelcome, onNews (any other control message), onDirected(from, payload) and onClosed({ code, detail }). */
function openSocket(socketUrl, first, { pod, listener }) {
  const headers = pod === undefined ? {} : { cookie: `parley-affinity=${pod}` };
  const socket = new WebSocket(socketUrl, null, { headers, tags: { name: 'socket' } });
  socket.addEventListener('open', () => {
    socket.send(JSON.stringify(first));
  });
  socket.addEventListener('message', ({ data }) => {
    if (typeof data !== 'string') listener.onNews({ type: 'binary' });
    else if (data[0] === '<') listener.onDirected(data.slice(1, FROM_END), data.slice(FROM_END + 1));
    else hear(JSON.parse(data), listener);
  });
  let isOver = false;
  const over = (code) => {
    if (isOver) return;
    isOver = true;
    listener.onClosed(code);
  };
  // k6 tells of a close by the peer as an error, with the number in its text.
  socket.addEventListener('error', ({ error }) => over(codeOfClose(/close (\d{4})/.exec(error)?.[1], error)));
  socket.addEventListener('close', ({ code }) => over(codeOfClose(code, 'closed')));
  return socket;
}

/** A directed message (DIR-1). */
export const directed = (to, id, payload) => `>${to} ${id}\n${payload}`;

export const LEAVE = JSON.stringify({ type: 'leave' });

function hear(message, listener) {
  if (message.type === 'welcome') listener.onWelcome(message);
  else listener.onNews(message);
}

function bodyOf(answer) {
  try {
    return answer.json() ?? {};
  } catch {
    // The edge refuses without a body of ours.
    return {};
  }
}

function codeOfClose(close, detail) {
  return { code: CODE_OF_CLOSE.get(Number(close)) ?? 'SOCKET_LOST', detail: `${close ?? ''} ${detail}` };
}
