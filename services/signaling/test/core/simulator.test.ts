/** Histories of the simulator (`npm run simulate`): some seeds of each kind, and those that failed once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { play } from '../../sim/play.ts';
import { kindNamed, kindOf, KINDS, REGION_KINDS, seedsOf } from '../../sim/kinds.ts';

/** About 2,100 histories in all, a thirteenth of them of each kind. */
const SEEDS_EACH = 160;

for (const kind of KINDS) {
  test(`[BUS-4] [ROS-2] rosters agree and no participant that resumed is shown as left: ${kind.name}`, () => {
    for (const seed of seedsOf(kind, SEEDS_EACH)) play(seed);
  });
}

/** They take six times as long each, as cuts do. */
const REGION_SEEDS = 100;

for (const [at, kind] of REGION_KINDS.entries()) {
  test(`[REG-3] [REG-4] regions that are cut off lose and double no participant: ${kind.name}`, () => {
    for (let seed = at; seed < REGION_SEEDS; seed += REGION_KINDS.length) play(seed, kind);
  });
}

/** Seeds that failed once, with their kinds, by the rule that they violated. */
const ONCE_FAILED = {
  '[CHAT-2] a line whose only message is lost reaches all participants': [
    140,
    'lost, repeated and late messages',
  ],
  '[CHAT-2] a line that is sent while the bus is down reaches all participants when it is restored': [
    40,
    'a bus that stops',
  ],
  '[DIR-4] a directed message that the bus repeats is delivered once': [190, 'killed and restarted pods'],
  '[RES-3] the end of an older claim does not refuse a resume that has overtaken it': [
    1249,
    'two groups far apart',
  ],
  '[ROS-2] an overtaken claim of a dead pod is not published, and no participant sees its holder leave': [
    916,
    'everything',
  ],
  '[ROS-2] the end of an older claim in a room just opened is not taken for its holder leaving': [
    1151,
    'two groups far apart',
  ],
  '[ROS-14] a pod whose links are restored publishes departures before it closes the room': [
    1062,
    'a bus that stops',
  ],
  '[ROS-2] while a named pod is silent the end of an older claim is not taken for its holder leaving': [
    9255,
    'killed and restarted pods',
  ],
  '[ROS-14] a room that is recovering is kept until the holders of older claims know the departures': [
    7601,
    'everything',
  ],
  '[CHAT-2] a pod that was disconnected still repeats what another one missed': [2897, 'everything'],
  '[ROS-18] a dead pod that only a late answer names is waited for': [7242, 'two groups and killed pods'],
  '[ROS-14] a room with departures is kept until a pod that has had it for longer has answered': [
    1133,
    'everything',
  ],
  '[RES-7] a pod that is catching up itself answers that participants may be missing': [6691, 'everything'],
  '[ROS-17] in a recovering room the end of an older claim is not taken at once for its holder leaving': [
    5613,
    'everything',
  ],
  '[REG-2] a late message of the last pod of a region does not show that the region is reachable': [
    587,
    'regions, and everything else',
  ],
  '[REG-4] a pod that starts just before a cut learns of it from the others': [
    3995,
    'regions, and everything else',
  ],
} as const;

for (const [title, [seed, kind]] of Object.entries(ONCE_FAILED)) {
  test(`${title}: seed ${seed}`, () => void play(seed, kindNamed(kind)));
}

test('a seed determines its kind', () => {
  for (const kind of KINDS) for (const seed of seedsOf(kind, 3)) assert.equal(kindOf(seed), kind);
});
