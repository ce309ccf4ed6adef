/** Loses one message in thirty, repeats one in thirty, and delays one in five so that others overtake it. */
import type { Fault } from '../test/support/network.ts';
import type { World } from '../test/support/world.ts';
import type { Faults } from './kinds.ts';

/** After a loss the same link loses nothing for this long: the promises hold for any single lost message. */
const SPARED_MS = 2500;
const STRAGGLERS = 1 / 30;
const MAX_STRAGGLER_MS = 2000;

export function unreliable(world: World, { stragglers }: Faults): Fault {
  const sparedUntil = new Map<string, number>();
  return ({ from, to }) => {
    const { random } = world;
    const link = `${from}>${to}`;
    if (random.chance(1 / 30) && world.now >= (sparedUntil.get(link) ?? 0) && from !== to) {
      sparedUntil.set(link, world.now + SPARED_MS);
      return [];
    }
    const lateMs = random.chance(1 / 5) ? random.between(1, 60) : 0;
    const copies = random.chance(1 / 30) ? [lateMs, random.between(1, 200)] : [lateMs];
    if (stragglers && random.chance(STRAGGLERS)) copies.push(random.between(300, MAX_STRAGGLER_MS));
    return copies;
  };
}
