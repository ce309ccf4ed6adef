/** The semi-thundering herd: calls of four begin at a steady rate, and everyone comes, talks, goes and comes back. One VU is one participant. */
import exec from 'k6/execution';
import { call, join, leave } from './lib/actions.js';
import { ERROR_CODES } from './lib/metrics.js';
import { newRoom, requireUp } from './lib/parley.js';
import { sizeOf, visitsOf } from './lib/plan.ts';
import { herdProfile } from './profiles/herd.ts';

const site = __ENV.HERD_SITE || 'http://127.0.0.1:8080';
const profile = herdProfile(__ENV.HERD_PROFILE || 'smoke');
// k6 reads options once, and this file once for each VU, who need not count the whole herd.
const size = __VU === 0 ? sizeOf(profile) : { people: 0, joins: 0, endMs: 0 };

export const options = {
  scenarios: {
    herd: {
      executor: 'per-vu-iterations',
      exec: 'attend',
      vus: size.people,
      maxDuration: `${Math.ceil(size.endMs / 1000) + 30}s`,
    },
  },
  thresholds: {
    // Everybody who wants in comes in, as often as they want.
    joins: [`count==${size.joins}`],
    // Nobody is refused, dropped, left out of a roster or sent a byte that is not the sender's.
    errors: ['count==0'],
    ...Object.fromEntries(ERROR_CODES.map((code) => [`errors{code:${code}}`, ['count==0']])),
    // A door that opens as one steps up to it, also while a herd comes in.
    join_ms: ['p(95)<500', 'p(99)<2000'],
    // Pods agree on who is there within 2 s, whatever single message is lost (BUS-4).
    join_to_roster_ms: ['p(95)<750', 'p(99)<2000'],
    // "Call in 0.7 s": what signaling may take of it.
    join_to_call_ms: ['p(95)<750'],
    // A candidate that is late delays the picture; after 2 s the sender would have been told (DIR-5).
    signal_ms: ['p(95)<100', 'p(99)<1000', 'max<2000'],
    // What is sent to somebody who is there arrives (DIR-4).
    undelivered: ['count==0'],
    // About this generator, not about Parley: an open loop that is late is no open loop.
    late_ms: ['p(95)<250'],
  },
  summaryTrendStats: ['med', 'p(95)', 'p(99)', 'max', 'count'],
  // An address holds its room, and every room would be a time series of its own.
  systemTags: ['name', 'status', 'error_code'],
  // A browser that opens the page again brings no connection along.
  noConnectionReuse: true,
  setupTimeout: '10s',
};

/** Fails at once where there is no Parley. VUs are ready by now; the herd starts a little later, for all of them at one moment. */
export function setup() {
  requireUp(site);
  const startAt = Date.now() + 1500;
  console.log(`herd begins at ${startAt}`);
  return { site, startAt, rooms: Array.from({ length: profile.calls }, newRoom) };
}

export async function attend(herd) {
  const vu = exec.vu.idInTest - 1;
  const visits = visitsOf(profile, Math.floor(vu / profile.callSize), vu % profile.callSize);
  for (const visit of visits) {
    const participant = await join(herd, profile, visit);
    if (participant === undefined) continue;
    await call(herd, visit);
    leave(participant);
  }
}

export function handleSummary({ metrics }) {
  return __ENV.HERD_SUMMARY ? { [__ENV.HERD_SUMMARY]: JSON.stringify(metrics) } : {};
}
