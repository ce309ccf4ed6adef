/** How many hold and read a page, told to everyone who has to do with it, now and then. SPEC rules PAGE-8, PAGE-13. */
import { readersHere, type Desk, type Swarm, type Totals, type Visitor } from './state.ts';
import { isSettled } from './swarm.ts';

/** Something changed: everyone here is told with what else changes until then. */
export function count(desk: Desk, swarm: Swarm): void {
  const due = Math.max(desk.now, swarm.countedAt + desk.limits['page.countEvery']);
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

/** Whoever has just come need not wait for the next. */
export function countFor(desk: Desk, swarm: Swarm, { socket }: Visitor): void {
  const message = { type: 'count', page: swarm.page, ...totalsOf(desk, swarm) } as const;
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
