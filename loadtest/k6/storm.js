/** The thundering herd: calls are in progress, all participants lose the service at once, and come back. One VU is one participant. */
import exec from 'k6/execution';
import { until } from './lib/actions.js';
import { ERROR_CODES, lateMs } from './lib/metrics.js';
import { requireUp } from './lib/parley.js';
import { Returner } from './lib/returner.js';
import { arrivalOf, roomOf, stormProfile, timesOf, toleratedOf } from './profiles/storm.ts';

const sites = (__ENV.HERD_SITE || 'http://127.0.0.1:8080').split(',');
const profile = stormProfile(__ENV.HERD_PROFILE || 'reconnect', Number(__ENV.HERD_SCALE || 1));
// Rooms follow from it, as several k6 of one run share no memory.
const seed = Number(__ENV.HERD_SEED || 1);
const times = timesOf(profile);
const tolerated = toleratedOf(profile);
const { backMs, answerMs, messageMs } = profile.goals;

export const options = {
  scenarios: {
    storm: {
      executor: 'per-vu-iterations',
      exec: 'attend',
      vus: profile.vus,
      maxDuration: `${Math.ceil(times.endMs / 1000) + 30}s`,
    },
  },
  thresholds: {
    // No participant is lost or refused for good, and no message is altered.
    errors: ['count==0'],
    ...Object.fromEntries(ERROR_CODES.map((code) => [`errors{code:${code}}`, ['count==0']])),
    // What an outage brings along is repeated; a limit that refuses people who come back is not.
    ...Object.fromEntries(
      ERROR_CODES.map((code) => [
        `refusals{code:${code}}`,
        [tolerated.includes(code) ? 'count>=0' : 'count==0'],
      ]),
    ),
    // People are back soon.
    ...(backMs === undefined ? {} : { back_ms: [`p(99)<${backMs}`] }),
    // Every request is answered, and soon.
    ...(answerMs === undefined ? {} : { answer_ms: [`p(99)<${answerMs}`] }),
    // A call does not notice that others come back: its messages are quick, and no one in it is sent away.
    ...(messageMs === undefined
      ? {}
      : { message_ms: [`p(99)<${messageMs}`], losses: ['count==0'], undelivered: ['count==0'] }),
    // Only the room that all open may be full. No count is absolute: several k6 share the people of one run.
    ...(profile.oneRoom ? {} : { full: ['count==0'] }),
    // A limit of this generator, not of Parley.
    late_ms: ['p(95)<100'],
  },
  summaryTrendStats: ['med', 'p(95)', 'p(99)', 'max', 'count'],
  // A URL contains its room, and every room would be a time series of its own.
  systemTags: ['name', 'status', 'error_code'],
  // A browser that opens the page again has no open connection; one that is kept may be closed by now.
  noConnectionReuse: true,
  setupTimeout: '10s',
};

/** Fails at once without a running Parley. The herd begins a little later, so that the other generator can begin at the same moment. */
export function setup() {
  sites.forEach(requireUp);
  const startAt = Date.now() + 6000;
  console.log(`herd begins at ${startAt}`);
  return { startAt };
}

export async function attend({ startAt }) {
  const vu = exec.vu.idInTest - 1;
  const call = Math.floor(vu / profile.callSize);
  const room = profile.oneRoom ? roomOf(seed, 0) : roomOf(seed, call);
  const arriveAt = startAt + arrivalOf(profile, vu);
  await until(arriveAt);
  lateMs.add(Date.now() - arriveAt);
  const person = new Returner({ profile, vu, site: sites[call % sites.length], room });
  if (!(await person.join())) return;
  const endAt = startAt + times.endMs;
  await person.stayUntil(endAt);
  person.leave();
}

export function handleSummary({ metrics }) {
  return __ENV.HERD_SUMMARY ? { [__ENV.HERD_SUMMARY]: JSON.stringify(metrics) } : {};
}
