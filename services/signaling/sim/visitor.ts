/** A participant that joins in a quiet period receives a welcome with all participants. SPEC rules ROS-7, JOIN-9. */
import assert from 'node:assert/strict';
import type { History } from './history.ts';
import { expectedPeople } from './checks.ts';
import { isOwned } from './rooms.ts';

/** A pod sends the welcome after 300 ms at the latest, so slower answers arrive as changes. */
const MAX_ROUND_TRIP_MS = 290;
const WELCOME_TIMEOUT_MS = 310;
/** By then tombstones and digests of the visit have passed. */
const FORGOTTEN_AFTER_MS = 5000;

export function checkArrival(history: History): void {
  const { world, certainty, names, gone } = history;
  // A visitor of an owned room may be turned away.
  const room = history.rooms.findLast((view) => !isOwned(view));
  if (room === undefined) return;
  const pod = world.random.pick([...world.pods.keys()]) ?? 'a';
  const roundTrip = 2 * Math.max(...names.map((name) => world.topology.latencyMs(pod, name)));
  const visitor = world.person('the visitor');
  history.events.push(`${world.now} ms: the visitor (${visitor.id}) joins on ${pod}`);
  const here = expectedPeople(history, room.room).filter((row) => row.endsWith('here'));
  visitor.join(pod, room);
  certainty.changed(visitor, pod);
  world.advance(WELCOME_TIMEOUT_MS);
  const rows = visitor.welcome.roster.map(({ participant, state }) => `${participant} ${state}`);
  if (roundTrip <= MAX_ROUND_TRIP_MS)
    for (const row of here)
      assert.ok(rows.includes(row), `the visitor on ${pod} is shown ${row}, not only ${rows.join(', ')}`);
  visitor.leave();
  gone.set(visitor, world.now);
  certainty.changed(visitor, pod);
  world.advance(FORGOTTEN_AFTER_MS);
}
