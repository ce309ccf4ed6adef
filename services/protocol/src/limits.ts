/**
 * Every limit of the platform: its name, default, unit, the code a caller gets over it, and why that value. The key in a pod's
 * environment is `PARLEY_LIMIT_` and the name in capitals with underscores (`limitKey`). SPEC rule LIM-1.
 */
import type { Code } from './codes.ts';
import { MEDIA_LIMITS } from './media-limits.ts';
import { PAGE_LIMITS } from './page-limits.ts';

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
  'message.fragments': {
    value: 64,
    min: 1,
    max: 16_384,
    unit: 'fragments',
    code: 'TOO_MANY_FRAGMENTS',
    why: 'a browser sends a message of the full size in at most ten; each fragment costs memory besides its bytes, and counts as a message in `socket.messages`',
  },
  'message.chunks': {
    value: 512,
    min: 16,
    max: 65_536,
    unit: 'reads',
    code: 'TOO_MANY_FRAGMENTS',
    why: 'a frame of the full size in packets of 536 bytes, the smallest that IPv4 links need to carry, is 123 reads; each read that waits for the rest costs memory',
  },
  'message.timeout': {
    value: 10_000,
    min: 100,
    max: 600_000,
    unit: 'ms',
    code: 'MESSAGE_TIMEOUT',
    why: 'a message of the full size takes 9 s at 56 kbit/s; pings and pongs in between do not prolong it',
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
  'address.bufferedBytes': {
    value: 33_554_432,
    min: 65_536,
    max: 1_099_511_627_776,
    unit: 'bytes',
    code: 'SLOW_CONSUMER',
    why: '32 readers of one network that have all stalled; 500 that keep up need 64 KiB each at most',
  },
  'pod.bufferedBytes': {
    value: 201_326_592,
    min: 65_536,
    max: 1_099_511_627_776,
    unit: 'bytes',
    code: 'SLOW_CONSUMER',
    why: 'a quarter of the 768 MiB of a pod; over it, sockets of the network that holds most are closed',
  },
  'address.incompleteBytes': {
    value: 8_388_608,
    min: 65_536,
    max: 1_099_511_627_776,
    unit: 'bytes',
    code: 'INCOMPLETE_BYTES',
    why: '16 KiB for each of the 500 sockets of one network, all in the middle of a message',
  },
  'pod.incompleteBytes': {
    value: 67_108_864,
    min: 65_536,
    max: 1_099_511_627_776,
    unit: 'bytes',
    code: 'INCOMPLETE_BYTES',
    why: 'a twelfth of the 768 MiB of a pod; over it, sockets of the network that holds most are closed',
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
  'address.resumes': {
    value: 1000,
    min: 1,
    max: 10_000_000,
    unit: 'resumes and enters per minute',
    code: 'TOO_MANY_REQUESTS',
    why: 'the 500 sockets of an office come back from a dead pod, and once more from the next; counted before the token is verified',
  },
  'participant.resumes': {
    value: 20,
    min: 1,
    max: 10_000_000,
    unit: 'resumes and enters per minute',
    code: 'TOO_MANY_REQUESTS',
    why: 'a network that fails every three seconds; counted after the ticket or token is verified, so that one that is replayed from many networks takes little of `pod.reads` and `pod.resumes`',
  },
  'address.reads': {
    value: 1500,
    min: 1,
    max: 10_000_000,
    unit: 'requests per minute',
    code: 'TOO_MANY_REQUESTS',
    why: 'reading a named room costs a read of the store, `relay` a signature: each of 500 people in an office may ask for both, and again when a relay is lost; what joins read is bounded by `address.joins`',
  },
  'pod.joins': {
    value: 200,
    min: 1,
    max: 1_000_000,
    unit: 'joins per second',
    code: 'POD_FULL',
    why: 'after a burst of `pod.sockets`, which is everyone for whom the pod has room: a fifth of a processor; counted after all cheap checks, so that refused requests take nothing from others',
  },
  'pod.resumes': {
    value: 200,
    min: 1,
    max: 1_000_000,
    unit: 'resumes per second',
    code: 'POD_FULL',
    why: 'after a burst of `pod.sockets`, with which a pod takes in all people of a dead one: in rooms of eight, three quarters of a processor; counted after the token is verified, so that junk takes nothing from others',
  },
  'pod.reads': {
    value: 400,
    min: 1,
    max: 1_000_000,
    unit: 'store reads per second',
    code: 'POD_FULL',
    why: 'after a burst of `pod.sockets`: `pod.joins` twice, as a visitor may read a named room before it joins, and come back; requests and tickets are counted apart, so that neither keeps out the other',
  },
  'pod.badBusLines': {
    value: 60,
    min: 1,
    max: 1_000_000,
    unit: 'log lines per minute',
    code: null,
    why: 'of messages on NATS that are not understood: enough to find their sender; `parley_bus_bad_messages_total` counts all of them',
  },
  'address.rooms': {
    value: 30,
    min: 1,
    max: 1_000_000,
    unit: 'named rooms per hour',
    code: 'TOO_MANY_ROOMS',
    why: 'a named room is kept until it is deleted or was not used for `room.idle`',
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
  'address.lobby': {
    value: 10,
    min: 1,
    max: 1000,
    unit: 'people waiting',
    code: 'LOBBY_FULL',
    why: 'of one room and one network: a fifth of its lobby; a class behind one address is admitted in turns',
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
  'room.idle': {
    value: 7_776_000_000,
    min: 600_000,
    max: 315_360_000_000,
    unit: 'ms',
    code: 'ROOM_NOT_FOUND',
    why: '90 days: a room that is used once in a quarter stays; pods with people in a room renew it about once a minute at most',
  },
  'region.rooms': {
    value: 50_000,
    min: 1,
    max: 10_000_000,
    unit: 'named rooms',
    code: 'REGION_FULL',
    why: "20 kB for each in JetStream's 1 GB: a record with some bans and the seats of a hundred people are half of it",
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
  'chat.brought': {
    value: 20,
    min: 0,
    max: 20,
    unit: 'lines',
    code: null,
    why: 'of one resume; a room gets its chat back from several clients',
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
    value: 600_000,
    min: 60_000,
    max: 86_400_000,
    unit: 'ms',
    code: 'RESUME_EXPIRED',
    why: 'a client that is connected gets a new one after a third of it; a token that leaked is worth nothing soon after',
  },
  'room.owners': {
    value: 5,
    min: 0,
    max: 100,
    unit: 'participants',
    code: 'ROOM_FULL',
    why: 'owners who may enter a full room, counted against the local roster; further ones need a free place like everyone else',
  },
  'pod.departures': {
    value: 50_000,
    min: 0,
    max: 1_000_000,
    unit: 'participants',
    code: null,
    why: 'participants that left, remembered for `resume.ttl` so that their tokens are refused: 83 a second; over it the earliest is forgotten',
  },
  ...MEDIA_LIMITS,
  ...PAGE_LIMITS,
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
