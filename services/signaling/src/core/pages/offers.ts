/** Offers candidates to a reader: at once when it subscribes, and more when others appear. SPEC rule PAGE-6. */
import { choose } from './choose.ts';
import type { Desk, Stake, Swarm, Visitor } from './state.ts';

const OFFER_MS = 250;

/** The answer to `subscribe`, also where there is no holder. */
export function offer(desk: Desk, swarm: Swarm, visitor: Visitor, stake: Stake): void {
  give(desk, swarm, visitor, stake);
}

/** Other candidates may have appeared for readers that were given fewer than they may ask. */
export function offerSoon(desk: Desk, swarm: Swarm): void {
  swarm.offering ??= desk.agenda.schedule(desk.now + OFFER_MS, () => {
    swarm.offering = undefined;
    for (const [visitor, stake] of swarm.here) {
      if (stake.given === undefined || stake.given.size >= desk.limits['page.maxHolders']) continue;
      give(desk, swarm, visitor, stake, true);
    }
  });
}

function give(desk: Desk, swarm: Swarm, visitor: Visitor, stake: Stake, onlySome = false): void {
  const { given } = stake;
  if (given === undefined) return;
  const holders = choose(desk, swarm, visitor, stake, desk.limits['page.maxHolders'] - given.size);
  if (onlySome && holders.length === 0) return;
  for (const one of holders) given.add(one.visitor);
  const message = { type: 'holders', page: swarm.page, holders } as const;
  desk.effects.push({ type: 'say', sockets: [visitor.socket], message });
}
