/** Seeds of random histories. The title names what may go wrong in them; the failure names seed and step. */
import { test } from 'node:test';
import { walk } from './walk.ts';

/** `PARLEY_WALK_SEED=17` runs one history alone. */
const only = process.env['PARLEY_WALK_SEED'];
const SEEDS_EACH = 100;

const KINDS = {
  'lost, repeated and late messages': { losses: true, kills: false, cuts: false },
  'and killed and restarted pods': { losses: true, kills: true, cuts: false },
  'and cut links': { losses: true, kills: false, cuts: true },
} as const;

for (const [kind, faults] of Object.entries(KINDS)) {
  test(`[BUS-4] [ROS-2] rosters agree and nobody leaves who came back, whatever happens: ${kind}`, () => {
    if (only !== undefined) return walk(Number(only), faults);
    for (let seed = 1; seed <= SEEDS_EACH; seed += 1) walk(seed, faults);
    return undefined;
  });
}
