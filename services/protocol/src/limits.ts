/**
 * Every limit of the platform: its name, default, unit, the code a caller gets over it, and why that value. The key in a pod's
 * environment is `PARLEY_LIMIT_` and the name in capitals with underscores (`limitKey`). SPEC rule LIM-1.
 */
import type { Code } from './codes.ts';

export interface Limit {
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly unit: string;
  /** What a caller over the limit is told; `null` where nobody is refused. */
  readonly code: Code | null;
  readonly why: string;
}

const define = <Names extends string>(table: Record<Names, Limit>): Record<Names, Limit> => table;

export const LIMITS = define({
  'message.bytes': {
    value: 65_536,
    min: 1024,
    max: 1_048_576,
    unit: 'bytes',
    code: 'MESSAGE_TOO_LARGE',
    why: 'a large SDP is 10 kB; six times that leaves room for simulcast and many candidates',
  },
  'control.bytes': {
    value: 16_384,
    min: 1024,
    max: 65_536,
    unit: 'bytes',
    code: 'MESSAGE_TOO_LARGE',
    why: 'the longest control message is a chat line of 2,000 characters, at most 4 bytes each, escaped',
  },
  'body.bytes': {
    value: 4096,
    min: 512,
    max: 65_536,
    unit: 'bytes',
    code: 'BODY_TOO_LARGE',
    why: 'no request of /v1 needs more than a few hundred bytes',
  },
  'socket.messages': {
    value: 60,
    min: 1,
    max: 1_000_000,
    unit: 'messages per second',
    code: 'RATE_LIMITED',
    why: 'twice what a client sends while it negotiates with a full mesh',
  },
  'socket.messageBurst': {
    value: 400,
    min: 1,
    max: 10_000_000,
    unit: 'messages',
    code: 'RATE_LIMITED',
    why: 'joining a full mesh sends some 14 messages to each person, in a burst',
  },
  'socket.bytes': {
    value: 262_144,
    min: 1024,
    max: 1_073_741_824,
    unit: 'bytes per second',
    code: 'RATE_LIMITED',
    why: 'one full-size message four times a second',
  },
  'socket.byteBurst': {
    value: 1_048_576,
    min: 1024,
    max: 1_073_741_824,
    unit: 'bytes',
    code: 'RATE_LIMITED',
    why: 'offers to a whole mesh at once',
  },
  'socket.badMessages': {
    value: 10,
    min: 1,
    max: 1000,
    unit: 'messages',
    code: 'BAD_MESSAGE',
    why: 'a newer client may send what an older pod does not know; a broken one is shut out',
  },
  'socket.bufferedBytes': {
    value: 1_048_576,
    min: 16_384,
    max: 67_108_864,
    unit: 'bytes',
    code: 'SLOW_CONSUMER',
    why: 'a reader that is a megabyte behind is not in the call any more; it resumes when it can',
  },
  'socket.enterTimeout': {
    value: 5000,
    min: 100,
    max: 60_000,
    unit: 'ms',
    code: 'ENTER_TIMEOUT',
    why: 'a socket that does not say who it is holds memory for nothing',
  },
  'socket.pingInterval': {
    value: 1500,
    min: 200,
    max: 60_000,
    unit: 'ms',
    code: null,
    why: 'with two misses noticed at the third ping, somebody whose network is gone shows away within 5 s',
  },
  'pod.sockets': {
    value: 8000,
    min: 1,
    max: 100_000,
    unit: 'sockets',
    code: 'POD_FULL',
    why: 'well below the 20,000 descriptors a process usually gets, as the edge needs two for each',
  },
  'pod.rooms': {
    value: 4000,
    min: 1,
    max: 100_000,
    unit: 'rooms',
    code: 'POD_FULL',
    why: 'each room is one NATS subscription',
  },
  'address.sockets': {
    value: 500,
    min: 1,
    max: 100_000,
    unit: 'sockets',
    code: 'TOO_MANY_SOCKETS',
    why: 'an office or a school behind one address',
  },
  'address.joins': {
    value: 120,
    min: 1,
    max: 10_000_000,
    unit: 'joins per minute',
    code: 'TOO_MANY_JOINS',
    why: 'two a second for everyone behind one address',
  },
  'address.rooms': {
    value: 30,
    min: 1,
    max: 1_000_000,
    unit: 'named rooms per hour',
    code: 'TOO_MANY_ROOMS',
    why: 'a named room is kept until it is deleted',
  },
  'address.moderation': {
    value: 240,
    min: 1,
    max: 1_000_000,
    unit: 'requests per minute',
    code: 'TOO_MANY_REQUESTS',
    why: 'an owner who admits a whole class one by one; each costs a read of the store',
  },
  'room.bans': {
    value: 200,
    min: 1,
    max: 500,
    unit: 'bans',
    code: 'TOO_MANY_BANS',
    why: 'they are read with the room at every join, and told between pods in one message',
  },
  'room.kicked': {
    value: 200,
    min: 1,
    max: 1000,
    unit: 'participants',
    code: null,
    why: 'over it the earliest is forgotten, whose resume token is then as good as that of somebody who left',
  },
  'room.lobby': {
    value: 50,
    min: 1,
    max: 1000,
    unit: 'people waiting',
    code: 'LOBBY_FULL',
    why: 'the owner sees each of them; counted against the local roster',
  },
  'lobby.wait': {
    value: 900_000,
    min: 1000,
    max: 86_400_000,
    unit: 'ms',
    code: 'LOBBY_TIMEOUT',
    why: 'a quarter of an hour at a door that nobody opens',
  },
  'room.participants': {
    value: 100,
    min: 1,
    max: 1000,
    unit: 'participants',
    code: 'ROOM_FULL',
    why: 'soft unless the room was made with a cap: counted against the local roster; a section of 1,000 people is half of what NATS takes in a message',
  },
  'mesh.max': {
    value: 4,
    min: 1,
    max: 12,
    unit: 'participants',
    code: null,
    why: 'up to here media goes from peer to peer',
  },
  'name.chars': {
    value: 64,
    min: 1,
    max: 256,
    unit: 'characters',
    code: 'NAME_INVALID',
    why: 'a name fits a tile',
  },
  'chat.chars': {
    value: 2000,
    min: 1,
    max: 4000,
    unit: 'characters',
    code: 'CHAT_TOO_LONG',
    why: 'a long paragraph',
  },
  'chat.lines': {
    value: 5,
    min: 1,
    max: 1000,
    unit: 'lines per second',
    code: 'CHAT_TOO_FAST',
    why: 'nobody types faster; a burst of twice that is allowed',
  },
  'chat.history': {
    value: 100,
    min: 0,
    max: 1000,
    unit: 'lines',
    code: null,
    why: 'what somebody who resumes may have missed',
  },
  'ticket.ttl': {
    value: 30_000,
    min: 1000,
    max: 300_000,
    unit: 'ms',
    code: 'TICKET_EXPIRED',
    why: 'from the answer to the socket is one round trip',
  },
  'resume.grace': {
    value: 30_000,
    min: 1000,
    max: 600_000,
    unit: 'ms',
    code: 'RESUME_EXPIRED',
    why: 'a reload, a lift, a change of network',
  },
  'resume.ttl': {
    value: 86_400_000,
    min: 60_000,
    max: 604_800_000,
    unit: 'ms',
    code: 'RESUME_EXPIRED',
    why: 'the longest call',
  },
  'turn.ttl': {
    value: 43_200_000,
    min: 60_000,
    max: 604_800_000,
    unit: 'ms',
    code: null,
    why: 'credentials outlive a working day; the socket hands out fresh ones',
  },
  'turn.lapse': {
    value: 6000,
    min: 1000,
    max: 60_000,
    unit: 'ms',
    code: null,
    why: 'a TURN node says every 2 s what it is: two of these may be lost before nobody is sent to it',
  },
  'turn.nodes': {
    value: 256,
    min: 1,
    max: 10_000,
    unit: 'nodes',
    code: null,
    why: 'an installation has tens; more is somebody who says names without end, and is not heard',
  },
  'turn.offered': {
    value: 2,
    min: 1,
    max: 8,
    unit: 'nodes',
    code: null,
    why: 'one may end in the middle of a call; each more costs everybody an allocation for every connection and transport',
  },
  'media.relayLapse': {
    value: 6000,
    min: 1000,
    max: 60_000,
    unit: 'ms',
    code: null,
    why: 'a relay says every 2 s what it is: two of these may be lost before nobody is sent to it',
  },
  'media.relays': {
    value: 256,
    min: 1,
    max: 10_000,
    unit: 'relays',
    code: null,
    why: 'a region has tens; more is somebody who says names without end, and is not heard',
  },
  'media.perRelay': {
    value: 50,
    min: 1,
    max: 10_000,
    unit: 'participants',
    code: null,
    why: 'of one room; more are sent to one more relay each time, and what these publish crosses between the relays once',
  },
  'media.tokenAge': {
    value: 300_000,
    min: 10_000,
    max: 3_600_000,
    unit: 'ms',
    code: null,
    why: 'who left a room keeps a token: it opens nothing later than this, and the socket hands out fresh ones',
  },
  'media.session': {
    value: 43_200_000,
    min: 60_000,
    max: 604_800_000,
    unit: 'ms',
    code: null,
    why: 'a session on a relay outlives a working day; then a fresh token opens the next one',
  },
  'page.bytes': {
    value: 16_777_216,
    min: 1024,
    max: 67_108_864,
    unit: 'bytes',
    code: 'PAGE_TOO_LARGE',
    why: 'a long article with its pictures; whoever reads it keeps it in memory',
  },
  'page.chunkBytes': {
    value: 65_536,
    min: 16_384,
    max: 131_072,
    unit: 'bytes',
    code: null,
    why: 'one message of a data channel in every browser; the manifest of the largest page stays at 11 KiB',
  },
  'page.memory': {
    value: 67_108_864,
    min: 1024,
    max: 1_073_741_824,
    unit: 'bytes',
    code: 'PAGES_TOO_LARGE',
    why: 'of all pages that one tab holds: four of the largest',
  },
  'page.perVisitor': {
    value: 16,
    min: 1,
    max: 1000,
    unit: 'pages',
    code: 'TOO_MANY_PAGES',
    why: 'of one socket; each page is a line in the books of a pod',
  },
  'page.asked': {
    value: 6,
    min: 1,
    max: 32,
    unit: 'holders',
    code: null,
    why: 'a reader is connected with so many at once: enough to find every chunk, few enough to set up',
  },
  'page.served': {
    value: 8,
    min: 1,
    max: 256,
    unit: 'readers',
    code: null,
    why: 'more would each get too little of a holder who also wants to read',
  },
  'page.requests': {
    value: 60,
    min: 1,
    max: 1_000_000,
    unit: 'messages per minute',
    code: 'PAGES_TOO_FAST',
    why: 'of one socket, about pages: a reader says some ten for each page',
  },
  'address.pages': {
    value: 600,
    min: 1,
    max: 10_000_000,
    unit: 'requests per minute',
    code: 'PAGES_TOO_FAST',
    why: 'wishes for pages and pipes from one address: an office that opens a link at once',
  },
  'pod.pages': {
    value: 10_000,
    min: 1,
    max: 1_000_000,
    unit: 'pages',
    code: 'POD_FULL',
    why: 'each page is one NATS subscription',
  },
  'address.openPages': {
    value: 1000,
    min: 1,
    max: 1_000_000,
    unit: 'pages',
    code: 'PAGES_TOO_FAST',
    why: 'pages of which a pod first heard from one address: a tenth of `pod.pages`, so that no address takes all',
  },
  'page.countEvery': {
    value: 1000,
    min: 50,
    max: 60_000,
    unit: 'ms',
    code: null,
    why: 'counts are told this often at most, so that a thousand arrivals are not a million messages',
  },
  'page.settle': {
    value: 10_000,
    min: 0,
    max: 600_000,
    unit: 'ms',
    code: null,
    why: 'after a pod died its visitors come back to others: until then nothing is called gone',
  },
  'drain.window': {
    value: 10_000,
    min: 1000,
    max: 600_000,
    unit: 'ms',
    code: null,
    why: 'a full pod moves its people at 800 a second, which the others take; well within the 30 s that Kubernetes gives a process to end',
  },
  'directed.timeout': {
    value: 1500,
    min: 100,
    max: 10_000,
    unit: 'ms',
    code: null,
    why: 'a sender learns within 2 s that nobody took a message (P7)',
  },
  'directed.pending': {
    value: 20_000,
    min: 1,
    max: 1_000_000,
    unit: 'messages',
    code: null,
    why: 'messages to other pods that wait for an answer; over it the oldest is reported undelivered',
  },
} as const satisfies Record<string, Limit>);

export type LimitName = keyof typeof LIMITS;
/** The limits in force on a pod: defaults with the operator's changes. */
export type Limits = Readonly<Record<LimitName, number>>;

const NAMES = Object.keys(LIMITS) as LimitName[];

export const limitNames = (): readonly LimitName[] => NAMES;

export function defaultLimits(changes: Partial<Limits> = {}): Limits {
  const values = {} as Record<LimitName, number>;
  for (const name of NAMES) values[name] = changes[name] ?? LIMITS[name].value;
  return values;
}

/** The environment key of a limit: `room.participants` is `PARLEY_LIMIT_ROOM_PARTICIPANTS`. */
export function limitKey(name: LimitName): string {
  return `PARLEY_LIMIT_${name
    .replace(/([A-Z])/g, '_$1')
    .replaceAll('.', '_')
    .toUpperCase()}`;
}
