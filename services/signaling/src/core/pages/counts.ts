/** The numbers of holders and readers of a page, sent to its visitors at intervals. SPEC rules PAGE-8, PAGE-13. */
import { isSettled } from './settled.ts';
import { readersHere, type PagesState, type Swarm, type Totals, type Visitor } from './state.ts';

/** Something changed: the visitors here are notified once of all changes within the interval. */
export function count(state: PagesState, swarm: Swarm): void {
  const due = Math.max(state.now, swarm.countedAt + state.limits['page.countInterval']);
  swarm.counting ??= state.agenda.schedule(due, () => {
    swarm.counting = undefined;
    const totals = totalsOf(state, swarm);
    if (swarm.here.size === 0 || (swarm.sentTotals !== undefined && same(totals, swarm.sentTotals))) return;
    swarm.sentTotals = totals;
    swarm.countedAt = state.now;
    const sockets = [...swarm.here.keys()].map(({ socket }) => socket);
    state.effects.push({ type: 'send', sockets, message: { type: 'count', page: swarm.page, ...totals } });
  });
}

/** Something changed that affects every page. */
export function recount(state: PagesState): void {
  for (const swarm of state.swarms.values()) count(state, swarm);
}

/** Until then a holder may be missing. */
export function unsettle(state: PagesState, swarm: Swarm, until: number): void {
  if (until <= swarm.unsettledUntil) return;
  swarm.unsettledUntil = until;
  state.agenda.schedule(until, () => count(state, swarm));
}

/** Removes sections from before `since`: a pod that still has the page would have published its section again. */
export function forgetOlder(state: PagesState, swarm: Swarm, since: number): void {
  for (const [pod, { at }] of swarm.sections) if (at < since) swarm.sections.delete(pod);
  count(state, swarm);
}

/** A visitor that has just arrived gets the numbers at once. */
export function countFor(state: PagesState, swarm: Swarm, { socket }: Visitor): void {
  const totals = totalsOf(state, swarm);
  // The other visitors have other numbers: should the change be undone, all are notified nevertheless.
  if (swarm.sentTotals !== undefined && !same(totals, swarm.sentTotals)) swarm.sentTotals = undefined;
  const message = { type: 'count', page: swarm.page, ...totals } as const;
  state.effects.push({ type: 'send', sockets: [socket], message });
}

function totalsOf(state: PagesState, swarm: Swarm): Totals {
  let holders = swarm.wholes.size;
  let readers = readersHere(swarm);
  for (const section of swarm.sections.values()) {
    holders += section.holders;
    readers += section.readers;
  }
  return { holders, readers, settled: isSettled(state, swarm) };
}

const same = (one: Totals, other: Totals): boolean =>
  one.holders === other.holders && one.readers === other.readers && one.settled === other.settled;
