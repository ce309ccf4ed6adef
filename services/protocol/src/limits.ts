/**
 * Every limit of the platform: its name, default, range, unit, the code that a caller over it gets, and the rationale of the value. The key
 * in a pod's environment is `PARLEY_LIMIT_` and the name in capitals with underscores (`limitKey`). SPEC rule LIM-1.
 */
import type { Code } from './codes.ts';
import { CHAT_LIMITS } from './chat-limits.ts';
import { MEDIA_LIMITS } from './media-limits.ts';
import { PAGE_LIMITS } from './page-limits.ts';
import { ROOM_LIMITS } from './room-limits.ts';
import { SOCKET_LIMITS } from './socket-limits.ts';

export interface Limit {
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly unit: string;
  /** The code that a caller over the limit gets; `null` if no caller is refused. */
  readonly code: Code | null;
  readonly rationale: string;
}

const define = <Names extends string>(table: Record<Names, Limit>): Record<Names, Limit> => table;

export const LIMITS = define({
  ...SOCKET_LIMITS,
  'pod.sockets': {
    value: 8000,
    min: 1,
    max: 100_000,
    unit: 'sockets',
    code: 'POD_FULL',
    rationale: 'well below the 20,000 descriptors a process usually gets, as the edge needs two per socket',
  },
  'pod.rooms': {
    value: 4000,
    min: 1,
    max: 100_000,
    unit: 'rooms',
    code: 'POD_FULL',
    rationale: 'each room is one NATS subscription',
  },
  'address.sockets': {
    value: 500,
    min: 1,
    max: 100_000,
    unit: 'sockets',
    code: 'TOO_MANY_SOCKETS',
    rationale: 'an office or a school behind one address',
  },
  'address.joins': {
    value: 120,
    min: 1,
    max: 10_000_000,
    unit: 'joins per minute',
    code: 'TOO_MANY_JOINS',
    rationale: 'two a second for all clients behind one address',
  },
  'address.resumes': {
    value: 1000,
    min: 1,
    max: 10_000_000,
    unit: 'resumes and enters per minute',
    code: 'TOO_MANY_REQUESTS',
    rationale:
      'the 500 sockets of an office reconnect after a pod died, and once more after the next; counted before the token is verified',
  },
  'participant.resumes': {
    value: 20,
    min: 1,
    max: 10_000_000,
    unit: 'resumes and enters per minute',
    code: 'TOO_MANY_REQUESTS',
    rationale:
      'a network that fails every three seconds; counted after the ticket or token is verified, so that a token that is replayed from many networks uses little of `pod.reads` and `pod.resumes`',
  },
  'address.reads': {
    value: 1500,
    min: 1,
    max: 10_000_000,
    unit: 'requests per minute',
    code: 'TOO_MANY_REQUESTS',
    rationale:
      'reading a named room costs a read of the store, `relay` a signature: each of 500 participants in an office may ask for both, and again when a relay is lost; what joins read is bounded by `address.joins`',
  },
  'pod.joins': {
    value: 400,
    min: 1,
    max: 1_000_000,
    unit: 'joins per second',
    code: 'BUSY',
    rationale:
      'at most, and down to a quarter of it while the event loop is late; counted after all cheap checks, so that refused requests take nothing from other clients; each admits one `enter`, of which `pod.resumes` accepts more',
  },
  'pod.slots': {
    value: 10_000,
    min: 0,
    max: 1_000_000,
    unit: 'slots',
    code: 'BUSY',
    rationale:
      'joins that wait for their time: 25 s at `pod.joins`, and more than `pod.sockets`, as some clients do not come; over it the answer has a time and no slot',
  },
  'slot.keep': {
    value: 10_000,
    min: 1000,
    max: 600_000,
    unit: 'ms',
    code: 'BUSY',
    rationale: 'how long a slot is valid from its time on: a slow network, a tab in the background, a reload',
  },
  'pod.resumes': {
    value: 900,
    min: 1,
    max: 1_000_000,
    unit: 'resumes and enters per second',
    code: 'POD_FULL',
    rationale:
      'at most, and down to what brings `pod.sockets` back within half of `resume.grace` while the event loop is late; an arrival over it waits on its socket, and is refused where more wait than that; the turn of an invalid ticket or token goes to the next',
  },
  'pod.reads': {
    value: 800,
    min: 1,
    max: 1_000_000,
    unit: 'store reads per second',
    code: 'POD_FULL',
    rationale:
      'after a burst of `pod.sockets`: `pod.joins` twice, as a visitor may read a named room before it joins, and resume; requests and tickets are counted apart, so that neither blocks the other',
  },
  'pod.badMessageLogLines': {
    value: 60,
    min: 1,
    max: 1_000_000,
    unit: 'log lines per minute',
    code: null,
    rationale:
      'of messages on NATS that are not understood: enough to find their sender; `parley_nats_invalid_messages_total` counts all of them',
  },
  'address.rooms': {
    value: 30,
    min: 1,
    max: 1_000_000,
    unit: 'named rooms per hour',
    code: 'TOO_MANY_ROOMS',
    rationale:
      'a named room is kept until it is deleted or was not used for `room.idleTimeout`; over it a call opens in an ad-hoc room, without an owner',
  },
  'address.moderation': {
    value: 240,
    min: 1,
    max: 1_000_000,
    unit: 'requests per minute',
    code: 'TOO_MANY_REQUESTS',
    rationale: 'an owner who admits a whole class one by one; each costs a read of the store',
  },
  ...ROOM_LIMITS,
  ...CHAT_LIMITS,
  'ticket.ttl': {
    value: 30_000,
    min: 1000,
    max: 300_000,
    unit: 'ms',
    code: 'TICKET_EXPIRED',
    rationale: 'between the answer and the socket is one round trip',
  },
  'resume.grace': {
    value: 30_000,
    min: 1000,
    max: 600_000,
    unit: 'ms',
    code: 'RESUME_EXPIRED',
    rationale: 'a reload, a lift, a change of network',
  },
  'resume.unloadGrace': {
    value: 10_000,
    min: 1000,
    max: 600_000,
    unit: 'ms',
    code: 'RESUME_EXPIRED',
    rationale:
      'the same after a page was unloaded, which is a reload or the end: on a slow phone a page loads within it',
  },
  'unreachable.keep': {
    value: 300_000,
    min: 10_000,
    max: 3_600_000,
    unit: 'ms',
    code: null,
    rationale:
      'participants of a region that is cut off are shown as unreachable for so long: most cuts are shorter, and their media may still flow',
  },
  'resume.ttl': {
    value: 600_000,
    min: 60_000,
    max: 86_400_000,
    unit: 'ms',
    code: 'RESUME_EXPIRED',
    rationale: 'a connected client gets a new token after a third of it; a leaked token is soon invalid',
  },
  'room.owners': {
    value: 5,
    min: 0,
    max: 100,
    unit: 'participants',
    code: 'ROOM_FULL',
    rationale:
      'owners who may enter a full room, counted against the local roster; further ones need a free place like other participants',
  },
  'pod.departures': {
    value: 50_000,
    min: 0,
    max: 1_000_000,
    unit: 'participants',
    code: null,
    rationale:
      'participants that left, remembered for `resume.ttl` so that their tokens are refused: 83 a second; over it the earliest is dropped',
  },
  ...MEDIA_LIMITS,
  ...PAGE_LIMITS,
  'drain.window': {
    value: 20_000,
    min: 1000,
    max: 600_000,
    unit: 'ms',
    code: null,
    rationale:
      'a full pod moves its participants at 400 a second, which others accept also on a slow processor (LIM-20); within the 30 s that Kubernetes gives a process to end',
  },
  'directed.timeout': {
    value: 1500,
    min: 100,
    max: 10_000,
    unit: 'ms',
    code: null,
    rationale: 'a sender is informed within 2 s that a message was not delivered (P7)',
  },
  'directed.pending': {
    value: 20_000,
    min: 1,
    max: 1_000_000,
    unit: 'messages',
    code: null,
    rationale: 'messages to other pods that wait for an answer; over it the oldest is reported undelivered',
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
