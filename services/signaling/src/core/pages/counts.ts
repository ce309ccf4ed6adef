/** The numbers of holders and readers of a page, sent to its visitors at intervals. SPEC rules PAGE-8, PAGE-13. */
import { isSettled } from './settled.ts';
import { readersHere, type Desk, type Swarm, type Totals, type Visitor } from './state.ts';

/** Something changed: the visitors here are notified once of all changes within the interval. */
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

/** Something changed that affects every page. */
export function recount(desk: Desk): void {
  for (const swarm of desk.swarms.values()) count(desk, swarm);
}

/** Until then a holder may be missing. */
export function unsettle(desk: Desk, swarm: Swarm, until: number): void {
  if (until <= swarm.unsettledUntil) return;
  swarm.unsettledUntil = until;
  desk.agenda.schedule(until, () => count(desk, swarm));
}

/** Removes sections from before `since`: a pod that still has the page would have published its section again. */
export function forgetOlder(desk: Desk, swarm: Swarm, since: number): void {
  for (const [pod, { at }] of swarm.sections) if (at < since) swarm.sections.delete(pod);
  count(desk, swarm);
}

/** A visitor that has just arrived gets the numbers at once. */
export function countFor(desk: Desk, swarm: Swarm, { socket }: Visitor): void {
  const totals = totalsOf(desk, swarm);
  // The other visitors have other numbers: should the change be undone, all are notified nevertheless.
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
