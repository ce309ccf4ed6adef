/**
 * One random history of some rooms: participants and owners act, pods die and start, links break, messages are lost, repeated and delayed. Some
 * invariants are checked after every step, the others in quiet periods. Everything follows from the seed and its kind. The README of this service says what
 * is played, what is checked, and what the simulator cannot see.
 */
import { World } from '../test/support/world.ts';
import { nextEvent } from './events.ts';
import { restartAtOnce, reviveSome, startDue } from './faults.ts';
import { mishap } from './mishaps.ts';
import { Certainty } from './certainty.ts';
import type { History } from './history.ts';
import { checkAlways, checkQuiet, endLateParticipants } from './checks.ts';
import { ClientViews } from './client-views.ts';
import { Conversation } from './conversation.ts';
import { checkDepartures } from './departed.ts';
import { twoGroups } from './groups.ts';
import { kindOf, type Faults, type Kind } from './kinds.ts';
import { Owners } from './owners.ts';
import { PODS_OF_REGIONS, threeRegions } from './regions.ts';
import { roomsOf } from './rooms.ts';
import { checkAllSeatsAreFree } from './seats.ts';
import { DirectedMessages } from './directed-messages.ts';
import { quietMs } from './quiet.ts';
import { checkArrival } from './visitor.ts';
import { unheard } from './unheard.ts';
import { unreliable } from './unreliable.ts';

const ROUNDS = 2;
const STEPS = 40;
const MAX_STEP_MS = 400;
const MAX_SLOW_STEP_MS = 3000;
/** While regions are cut off from each other. */
const MAX_CUT_STEP_MS = 10_000;
const PODS = ['a', 'b', 'c', 'd', 'e', 'f'] as const;
const SHOWN_STEPS = 40;
/** Pings detect a dead socket, then the grace period passes, and rosters agree 2 s later. */
const GONE_AFTER_GRACE_MS = 2000;

/** Runs the history of a seed. Throws with the seed, the step and the events before it where an invariant does not hold. */
export function play(seed: number, kind: Kind = kindOf(seed)): { readonly simulatedMs: number } {
  const history = begin(seed, kind);
  const { world } = history;
  try {
    for (let round = 1; round <= ROUNDS; round += 1) {
      world.network.withFault(history.faults.losses ? unreliable(history) : undefined);
      for (let at = 1; at <= STEPS; at += 1) takeStep(history);
      quietDown(history);
    }
    end(history);
  } catch (error) {
    const before = history.events.slice(-SHOWN_STEPS).join('\n  ');
    const { message } = error instanceof Error ? error : new Error(String(error));
    const where = `seed ${seed} (${kind.name}), step ${history.step}, at ${world.now} ms`;
    throw new Error(`${where}: ${message}\nbefore that\n  ${before}`, { cause: error });
  }
  return { simulatedMs: world.now };
}

function begin(seed: number, { faults }: Kind): History {
  const { names, topology } = fleetOf(seed, faults);
  const world = new World({ pods: names, seed, ...(topology && { topology }) });
  const certainty = new Certainty(world, faults.regions);
  return {
    world,
    faults,
    names,
    rooms: roomsOf(world, faults),
    certainty,
    directed: new DirectedMessages(world),
    conversation: new Conversation(world, certainty),
    views: new ClientViews(world, certainty),
    owners: new Owners(world, certainty),
    gone: new Map(),
    restarts: new Map(),
    dead: new Map(),
    longCutAt: Infinity,
    sparedUntil: -Infinity,
    changes: 0,
    waiting: new Set(),
    denied: new Set(),
    busBackAt: Infinity,
    stopped: [],
    tabs: [],
    healAt: Infinity,
    regionsHealAt: Infinity,
    diedAt: -Infinity,
    vanishedAt: -Infinity,
    step: 0,
    events: [],
  };
}

function fleetOf(seed: number, faults: Faults) {
  if (faults.regions) return { names: PODS_OF_REGIONS, topology: threeRegions };
  if (!faults.groups) return { names: PODS.slice(0, 3), topology: undefined };
  return { names: PODS.slice(0, 2 + (Math.trunc(seed / 11) % 5)), topology: twoGroups };
}

function takeStep(history: History): void {
  const { world } = history;
  history.step += 1;
  nextEvent(history);
  world.advance(world.random.between(0, stepMs(history)));
  startDue(history);
  checkAlways(history);
}

/** A long cut lasts while the participants go on, more slowly. */
function stepMs({ faults, world }: History): number {
  if (world.network.isWhole) return MAX_STEP_MS;
  if (faults.regions) return MAX_CUT_STEP_MS;
  return faults.longCuts ? MAX_SLOW_STEP_MS : MAX_STEP_MS;
}

/** No events occur and every link is up, for as long as the promises allow. */
function quietDown(history: History): void {
  const { world } = history;
  world.network.withFault(undefined);
  startDue(history, true);
  if (history.faults.mishaps) (world.random.chance(0.5) ? mishap : unheard)(history);
  if (history.faults.restarts && world.random.chance(0.5)) restartAtOnce(history);
  checkAlways(history);
  world.advance(quietMs(history));
  checkAlways(history);
  checkQuiet(history);
  checkArrival(history);
  // Grace periods may have ended meanwhile (RES-2): such participants do not resume on a pod that runs again.
  endLateParticipants(history);
  if (history.faults.deaths) reviveSome(history);
  // Rooms do not recover any more (RES-7).
  if (history.faults.mishaps && world.random.chance(0.8)) passGrace(history);
}

function passGrace(history: History): void {
  history.world.advance(history.world.limits['resume.grace']);
  history.certainty.look();
  endLateParticipants(history);
}

/** A participant that has not resumed has left when the grace period is over. */
function end(history: History): void {
  const { world, gone, faults } = history;
  // The participants of a region that is silent are unreachable for longer (REG-6).
  if (faults.regions) world.advance(world.limits['unreachable.keep']);
  world.advance(world.limits['resume.grace'] + GONE_AFTER_GRACE_MS);
  history.certainty.look();
  endLateParticipants(history);
  for (const person of world.people) if (!person.isHere && !gone.has(person)) gone.set(person, world.now);
  checkQuiet(history, true);
  checkDepartures(history);
  checkAllSeatsAreFree(history);
}
