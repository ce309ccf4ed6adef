/**
 * Load shapes of the thundering herd: all come, something happens, and all are back or answered. Read by k6 and by the runner, so it
 * imports nothing.
 */
export interface StormProfile {
  /** What happens when all are in. */
  readonly event: 'pod-killed' | 'sockets-dropped' | 'pods-rolled' | 'edges-killed' | 'none';
  readonly people: number;
  /** Those of them that k6 is: each a VU, in calls of its own. The rest is `parley-load crowd`. */
  readonly vus: number;
  /** All open one room, and most find it full; otherwise rooms are calls of `callSize`. */
  readonly oneRoom: boolean;
  readonly callSize: number;
  /** From the first arrival to the last. */
  readonly arriveMs: number;
  /** From the last arrival to the event. */
  readonly settleMs: number;
  /** From the event to the end. */
  readonly watchMs: number;
  /** Between two directed messages of a VU to another one of its call; 0: none. */
  readonly messageEveryMs: number;
  readonly goals: StormGoals;
}

/** What a run has to show; ms at the 99th percentile. */
export interface StormGoals {
  /** From the loss of a socket to the welcome on the next. */
  readonly backMs?: number;
  /** The answer to a request to join. */
  readonly answerMs?: number;
  /** A directed message, and with it: every message arrives, and no VU loses its socket. */
  readonly messageMs?: number;
}

const TEN_THOUSAND = {
  people: 10_000,
  vus: 1000,
  oneRoom: false,
  callSize: 4,
  // 250 a second: less than a pod accepts, as what is measured is the return.
  arriveMs: 40_000,
  settleMs: 10_000,
  messageEveryMs: 2000,
} as const;

export const STORM_PROFILES = {
  // Participants of the pod come back within the grace period or not at all.
  reconnect: { ...TEN_THOUSAND, event: 'pod-killed', watchMs: 35_000, goals: { backMs: 10_000 } },
  calm: {
    ...TEN_THOUSAND,
    event: 'sockets-dropped',
    vus: 2000,
    watchMs: 35_000,
    goals: { backMs: 10_000, messageMs: 250 },
  },
  // Each pod takes `drain.window` to drain, and some seconds to start.
  deploy: { ...TEN_THOUSAND, event: 'pods-rolled', watchMs: 75_000, goals: { backMs: 10_000 } },
  region: { ...TEN_THOUSAND, event: 'edges-killed', watchMs: 45_000, goals: { backMs: 10_000 } },
  doors: {
    ...TEN_THOUSAND,
    event: 'none',
    oneRoom: true,
    arriveMs: 10_000,
    settleMs: 0,
    // Slots end by then.
    watchMs: 40_000,
    messageEveryMs: 0,
    goals: { answerMs: 2000 },
  },
} as const satisfies Record<string, StormProfile>;

export const isStorm = (name: string): boolean => Object.hasOwn(STORM_PROFILES, name);

/** The profile of that name. `scale`: a share of the people, who arrive at the same rate; whole calls of at least one. */
export function stormProfile(name: string, scale = 1): StormProfile {
  const profiles: Record<string, StormProfile> = STORM_PROFILES;
  const profile = profiles[name];
  if (profile === undefined) throw new Error(`there is no profile "${name}" with an event`);
  if (!(scale > 0 && scale <= 1))
    throw new Error(`HERD_SCALE is ${scale}: it takes a share, above 0 and up to 1`);
  const whole = (people: number): number =>
    Math.max(1, Math.round((people * scale) / profile.callSize)) * profile.callSize;
  const vus = whole(profile.vus);
  const people = vus + whole(profile.people - profile.vus);
  return { ...profile, people, vus, arriveMs: Math.round(profile.arriveMs * scale) };
}

/** Moments since the beginning, in ms. */
export interface StormTimes {
  readonly eventMs: number;
  readonly endMs: number;
}

export function timesOf({ arriveMs, settleMs, watchMs }: StormProfile): StormTimes {
  const eventMs = arriveMs + settleMs;
  return { eventMs, endMs: eventMs + watchMs };
}

/** When a VU arrives: evenly, and in the order of their seats. */
export const arrivalOf = ({ arriveMs, vus }: StormProfile, vu: number): number =>
  Math.floor((arriveMs * vu) / vus);

/**
 * Codes of attempts that a client repeats without a word to its person, as they follow from the event. Where nothing happens, each request has
 * to be answered.
 */
export const toleratedOf = ({ event }: StormProfile): readonly string[] =>
  event === 'none' ? [] : ['NOT_READY', 'SOCKET_LOST', 'GOAWAY', 'NO_ANSWER', 'WELCOME_MISSING'];

/** A room id (ROOM-1) that is the same for all who know the seed: several k6 of one run share no memory. */
export function roomOf(seed: number, call: number): string {
  const symbols = '0123456789abcdefghjkmnpqrstvwxyz';
  let state = (Math.imul(seed, 0x9e3779b1) ^ Math.imul(call + 1, 0x85ebca6b)) | 0;
  let room = '';
  for (let at = 0; at < 16; at += 1) {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    room += `${at > 0 && at % 4 === 0 ? '-' : ''}${symbols.charAt((mixed ^ (mixed >>> 14)) & 31)}`;
  }
  return room;
}
