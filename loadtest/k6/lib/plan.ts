/**
 * Who is where, when. VUs share no memory, so the whole herd is a pure function of the profile: everyone can work out whom to expect in
 * the room, and who has left by now.
 */
import type { HerdProfile } from '../profiles/herd.ts';

/** One stay of one seat in its call; times in ms since the herd began. */
export interface Visit {
  readonly call: number;
  readonly seat: number;
  /** Counts the visits of this seat, from 0. */
  readonly number: number;
  readonly startMs: number;
  readonly endMs: number;
  /** Whether this arrival is sent to any pod. */
  readonly scattered: boolean;
}

/** All visits of a seat, in order: the last one begins before the steady part ends. */
export function visitsOf(profile: HerdProfile, call: number, seat: number): Visit[] {
  const random = randomFrom(1 + call * profile.callSize + seat);
  const [shortest, longest] = profile.stayMs;
  const visits: Visit[] = [];
  let startMs = Math.round((1000 * call) / profile.callsPerSecond + random() * profile.staggerMs);
  while (startMs < steadyOf(profile).endMs) {
    const endMs = startMs + Math.round(shortest + random() * (longest - shortest));
    visits.push({ call, seat, number: visits.length, startMs, endMs, scattered: random() < profile.scatter });
    startMs = endMs + profile.gapMs;
  }
  return visits;
}

/** When every call has begun, until the herd begins to thin out. */
export function steadyOf(profile: HerdProfile): { readonly startMs: number; readonly endMs: number } {
  const startMs = Math.ceil((1000 * profile.calls) / profile.callsPerSecond) + profile.staggerMs;
  return { startMs, endMs: startMs + profile.steadyMs };
}

/** The visits of the other seats of a call that go on at that moment. */
export function othersAt(profile: HerdProfile, visit: Visit, ms: number): Visit[] {
  const others: Visit[] = [];
  for (let seat = 0; seat < profile.callSize; seat += 1) {
    if (seat === visit.seat) continue;
    const now = visitsOf(profile, visit.call, seat).find(({ startMs, endMs }) => startMs <= ms && ms < endMs);
    if (now !== undefined) others.push(now);
  }
  return others;
}

export interface HerdSize {
  readonly people: number;
  readonly joins: number;
  readonly endMs: number;
}

export function sizeOf(profile: HerdProfile): HerdSize {
  let joins = 0;
  let endMs = 0;
  for (let call = 0; call < profile.calls; call += 1) {
    for (let seat = 0; seat < profile.callSize; seat += 1) {
      const visits = visitsOf(profile, call, seat);
      joins += visits.length;
      for (const visit of visits) endMs = Math.max(endMs, visit.endMs);
    }
  }
  return { people: profile.calls * profile.callSize, joins, endMs };
}

/** Mulberry32: the same stays in every run. */
function randomFrom(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
