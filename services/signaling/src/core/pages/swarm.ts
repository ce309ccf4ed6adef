/**
 * The life of a page on this pod, from its first visitor to its last: subscribe to its subject, request sections, unsubscribe. SPEC rules PAGE-11,
 * PAGE-13.
 */
import type { PageAddress } from '@parley/protocol/pages';
import { askAgain } from './section-requests.ts';
import { unsettle } from './counts.ts';
import { Givers } from './sources.ts';
import { say } from './sections.ts';
import { isDeaf } from './settled.ts';
import type { Desk, Swarm } from './state.ts';

const LINGER_MS = 2000;

export function openSwarm(desk: Desk, page: PageAddress, opener: string): Swarm {
  const swarm: Swarm = {
    page,
    opener,
    askedAt: desk.now,
    here: new Map(),
    wholes: new Givers(),
    parts: new Givers(),
    sections: new Map(),
    unsettledUntil: desk.now,
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
  desk.opened.set(opener, openedBy(desk, opener) + 1);
  desk.effects.push({ type: 'listen', page });
  askAgain(desk, swarm);
  unsettle(desk, swarm, desk.unsettledUntil);
  return swarm;
}

export const openedBy = (desk: Desk, network: string): number => desk.opened.get(network) ?? 0;

/** Unsubscribes from a page that has had no visitor here for a while. */
export function lingerIfEmpty(desk: Desk, swarm: Swarm): void {
  if (swarm.here.size > 0) {
    swarm.lingering?.cancel();
    swarm.lingering = undefined;
    return;
  }
  swarm.lingering ??= desk.agenda.schedule(desk.now + LINGER_MS, () => {
    swarm.lingering = undefined;
    // Without a connection the other pods would count on this one for long: they are notified when it is restored.
    if (isDeaf(desk)) return lingerIfEmpty(desk, swarm);
    say(desk, swarm);
    for (const later of [swarm.counting, swarm.saying, swarm.repeating, swarm.refreshing, swarm.offering])
      later?.cancel();
    desk.swarms.delete(swarm.page);
    const left = openedBy(desk, swarm.opener) - 1;
    if (left > 0) desk.opened.set(swarm.opener, left);
    else desk.opened.delete(swarm.opener);
    desk.effects.push({ type: 'stop-listening', page: swarm.page });
  });
}
