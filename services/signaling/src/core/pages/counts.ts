/** How many hold and read a page, told to everyone who has to do with it, now and then. SPEC rules PAGE-8, PAGE-13. */
import { isSettled } from './settled.ts';
import { readersHere, type Desk, type Swarm, type Totals, type Visitor } from './state.ts';

/** Something changed: everyone here is told with what else changes until then. */
export function count(desk: Desk, swarm: Swarm): void {
  const due = Math.max(desk.now, swarm.countedAt + desk.limits['page.countInterval']);
  swarm.counting ??= desk.agenda.schedule(due, () => {
    swarm.counting = undefined;
    const totals = totalsOf(desk, swarm);
    if (swarm.here.size === 0 || (swarm.told !== undefined && same(totals, swarm.told))) return;
    swarm.told = totals;
    swarm.countedAt = desk.now;
    const sockets = [...swarm.here.keys()].map(({ socket }) => socket);
    desk.effects.push({ type: 'say', sockets, message: { type: 'count', page: swarm.page, ...totals } });
  });
}

/** Something changed that concerns every page. */
export function recount(desk: Desk): void {
  for (const swarm of desk.swarms.values()) count(desk, swarm);
}

/** Until then a holder may be missing. */
export function unsettle(desk: Desk, swarm: Swarm, until: number): void {
  if (until <= swarm.unsettledUntil) return;
  swarm.unsettledUntil = until;
  desk.agenda.schedule(until, () => count(desk, swarm));
}

/** What was last said before `since` would have been said again by whoever still has the page. */
export function forgetOlder(desk: Desk, swarm: Swarm, since: number): void {
  for (const [pod, { at }] of swarm.sections) if (at < since) swarm.sections.delete(pod);
  count(desk, swarm);
}

/** Whoever has just come need not wait for the next. */
export function countFor(desk: Desk, swarm: Swarm, { socket }: Visitor): void {
  const totals = totalsOf(desk, swarm);
  // The others were told something else: where the change is undone in a moment, all are told all the same.
  if (swarm.told !== undefined && !same(totals, swarm.told)) swarm.told = undefined;
  const message = { type: 'count', page: swarm.page, ...totals } as const;
  desk.effects.push({ type: 'say', sockets: [socket], message });
}

function totalsOf(desk: Desk, swarm: Swarm): Totals {
  let holders = swarm.wholes.size;
  let readers = readersHere(swarm);
  for (const section of swarm.sections.values()) {
    holders += section.holders;
    readers += section.readers;
  }
  return { holders, readers, settled: isSettled(desk, swarm) };
}

const same = (one: Totals, other: Totals): boolean =>
  one.holders === other.holders && one.readers === other.readers && one.settled === other.settled;
