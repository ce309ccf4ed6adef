/**
 * The life of a page on this pod, from its first visitor to its last: subscribe to its subject, request sections, unsubscribe. SPEC rules PAGE-11,
 * PAGE-13.
 */
import type { PageAddress } from '@parley/protocol/pages';
import { requestAgain } from './section-requests.ts';
import { unsettle } from './counts.ts';
import { Sources } from './sources.ts';
import { publishSection } from './sections.ts';
import { isDisconnected } from './settled.ts';
import type { PagesState, Swarm } from './state.ts';

const LINGER_MS = 2000;

export function openSwarm(state: PagesState, page: PageAddress, opener: string): Swarm {
  const swarm: Swarm = {
    page,
    opener,
    requestedAt: state.now,
    here: new Map(),
    wholes: new Sources(),
    parts: new Sources(),
    sections: new Map(),
    unsettledUntil: state.now,
    sentTotals: undefined,
    countedAt: -Infinity,
    counting: undefined,
    publishing: undefined,
    repeating: undefined,
    refreshing: undefined,
    offering: undefined,
    lingering: undefined,
  };
  state.swarms.set(page, swarm);
  state.opened.set(opener, openedBy(state, opener) + 1);
  state.effects.push({ type: 'subscribe', page });
  requestAgain(state, swarm);
  unsettle(state, swarm, state.unsettledUntil);
  return swarm;
}

export const openedBy = (state: PagesState, network: string): number => state.opened.get(network) ?? 0;

/** Unsubscribes from a page that has had no visitor here for a while. */
export function lingerIfEmpty(state: PagesState, swarm: Swarm): void {
  if (swarm.here.size > 0) {
    swarm.lingering?.cancel();
    swarm.lingering = undefined;
    return;
  }
  swarm.lingering ??= state.agenda.schedule(state.now + LINGER_MS, () => {
    swarm.lingering = undefined;
    // Without a connection the other pods would count on this one for long: they are notified when it is restored.
    if (isDisconnected(state)) return lingerIfEmpty(state, swarm);
    publishSection(state, swarm);
    for (const later of [swarm.counting, swarm.publishing, swarm.repeating, swarm.refreshing, swarm.offering])
      later?.cancel();
    state.swarms.delete(swarm.page);
    const left = openedBy(state, swarm.opener) - 1;
    if (left > 0) state.opened.set(swarm.opener, left);
    else state.opened.delete(swarm.opener);
    state.effects.push({ type: 'unsubscribe', page: swarm.page });
  });
}
