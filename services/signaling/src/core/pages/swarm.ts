/** A page from its first visitor on this pod to its last: listening, asking the other pods, and letting go. SPEC rules PAGE-11, PAGE-13. */
import type { PageAddress } from '@parley/protocol/pages';
import { Bag } from './bag.ts';
import { hearsItself } from './beats.ts';
import { count } from './counts.ts';
import { say } from './sections.ts';
import type { Desk, Swarm } from './state.ts';

/** Interest crosses gateways with delay: a single question may reach nobody. */
const ASK_AT_MS = [0, 250, 1000] as const;
/** By then all have answered the last question. */
const ASKED_MS = 1300;
const LINGER_MS = 2000;

export function openSwarm(desk: Desk, page: PageAddress): Swarm {
  const swarm: Swarm = {
    page,
    openedAt: desk.now,
    here: new Map(),
    wholes: new Bag(),
    parts: new Bag(),
    sections: new Map(),
    unsettledUntil: Math.max(desk.now + ASKED_MS, desk.startedAt + desk.limits['page.settle']),
    told: undefined,
    countedAt: -Infinity,
    counting: undefined,
    saying: undefined,
    repeating: undefined,
    refreshing: undefined,
    offering: undefined,
    lingering: undefined,
  };
  desk.swarms.set(page, swarm);
  desk.effects.push({ type: 'listen', page });
  askAgain(desk, swarm);
  desk.agenda.schedule(swarm.unsettledUntil, () => count(desk, swarm));
  return swarm;
}

/** From the beginning: what was said before may be lost. */
export function askAgain(desk: Desk, swarm: Swarm): void {
  const { page } = swarm;
  for (const ms of ASK_AT_MS) {
    desk.agenda.schedule(desk.now + ms, () => {
      if (desk.swarms.get(page) !== swarm) return;
      desk.effects.push({ type: 'tell-page', page, message: { type: 'page-ask', page, pod: desk.pod } });
    });
  }
  unsettle(desk, swarm, ASKED_MS);
}

/** A holder may be missing for so long. */
export function unsettle(desk: Desk, swarm: Swarm, ms: number): void {
  const until = desk.now + ms;
  if (until <= swarm.unsettledUntil) return;
  swarm.unsettledUntil = until;
  desk.agenda.schedule(until, () => count(desk, swarm));
}

export const isSettled = (desk: Desk, swarm: Swarm): boolean =>
  desk.now >= swarm.unsettledUntil && hearsItself(desk);

/** Whether somebody here has to do with it decides how long it is listened to. */
export function lingerIfEmpty(desk: Desk, swarm: Swarm): void {
  if (swarm.here.size > 0) {
    swarm.lingering?.cancel();
    swarm.lingering = undefined;
    return;
  }
  swarm.lingering ??= desk.agenda.schedule(desk.now + LINGER_MS, () => {
    say(desk, swarm);
    for (const later of [swarm.counting, swarm.saying, swarm.repeating, swarm.refreshing, swarm.offering])
      later?.cancel();
    desk.swarms.delete(swarm.page);
    desk.effects.push({ type: 'stop-listening', page: swarm.page });
  });
}
