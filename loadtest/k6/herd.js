/** The semi-thundering herd: calls of four begin at a steady rate; each participant joins, talks, leaves and joins again. One VU is one participant. */
import exec from 'k6/execution';
import { call, join, leave } from './lib/actions.js';
import { ERROR_CODES } from './lib/metrics.js';
import { newRoom, requireUp } from './lib/parley.js';
import { sizeOf, visitsOf } from './lib/plan.ts';
import { herdProfile } from './profiles/herd.ts';

const site = __ENV.HERD_SITE || 'http://127.0.0.1:8080';
const profile = herdProfile(__ENV.HERD_PROFILE || 'smoke');
// k6 reads options once, and this file once for each VU, which need not count the whole herd.
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
    // Every planned join succeeds.
    joins: [`count==${size.joins}`],
    // No participant is refused, dropped, missing in a roster or sent altered bytes.
    errors: ['count==0'],
    ...Object.fromEntries(ERROR_CODES.map((code) => [`errors{code:${code}}`, ['count==0']])),
    // A join is quick, also during a herd.
    join_ms: ['p(95)<500', 'p(99)<2000'],
    // All pods agree on a roster within 2 s, also after the loss of a single message (BUS-4).
    join_to_roster_ms: ['p(95)<750', 'p(99)<2000'],
    // "Call in 0.7 s": the part of signaling.
    join_to_call_ms: ['p(95)<750'],
    // A late candidate delays the picture; after 2 s the sender gets `undelivered` (DIR-5).
    signal_ms: ['p(95)<100', 'p(99)<1000', 'max<2000'],
    // A message to a present participant arrives (DIR-4).
    undelivered: ['count==0'],
    // A limit of this generator, not of Parley: an open loop that is late is no open loop.
    late_ms: ['p(95)<250'],
  },
  summaryTrendStats: ['med', 'p(95)', 'p(99)', 'max', 'count'],
  // A URL contains its room, and every room would be a time series of its own.
  systemTags: ['name', 'status', 'error_code'],
  // A browser that opens the page again has no open connection.
  noConnectionReuse: true,
  setupTimeout: '10s',
};

/** Fails at once without a running Parley. VUs are ready by now; the herd starts a little later, at the same moment for all of them. */
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
