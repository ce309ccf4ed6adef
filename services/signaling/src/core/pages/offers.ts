/** Offers candidates to a reader: at once when it subscribes, and more when others appear. SPEC rule PAGE-6. */
import { choose } from './choose.ts';
import type { PagesState, Membership, Swarm, Visitor } from './state.ts';

const OFFER_MS = 250;

/** The answer to `subscribe`, also where there is no holder. */
export function offer(state: PagesState, swarm: Swarm, visitor: Visitor, membership: Membership): void {
  give(state, swarm, visitor, membership);
}

/** Other candidates may have appeared for readers that were given fewer than they may ask. */
export function offerSoon(state: PagesState, swarm: Swarm): void {
  swarm.offering ??= state.agenda.schedule(state.now + OFFER_MS, () => {
    swarm.offering = undefined;
    for (const [visitor, membership] of swarm.here) {
      if (membership.given === undefined || membership.given.size >= state.limits['page.maxHolders'])
        continue;
      give(state, swarm, visitor, membership, true);
    }
  });
}

function give(
  state: PagesState,
  swarm: Swarm,
  visitor: Visitor,
  membership: Membership,
  onlySome = false,
): void {
  const { given } = membership;
  if (given === undefined) return;
  const holders = choose(state, swarm, visitor, membership, state.limits['page.maxHolders'] - given.size);
  if (onlySome && holders.length === 0) return;
  for (const one of holders) given.add(one.visitor);
  const message = { type: 'holders', page: swarm.page, holders } as const;
  state.effects.push({ type: 'send', sockets: [visitor.socket], message });
}
