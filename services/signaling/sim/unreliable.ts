/** Loses one message in thirty, repeats one in thirty, and delays one in five so that others overtake it. */
import type { Fault } from '../test/support/network.ts';
import type { History } from './history.ts';

/** After a loss the same link loses nothing for this long: the promises hold for any single lost message. */
const SPARED_MS = 2500;
const STRAGGLERS = 1 / 12;
const MAX_STRAGGLER_MS = 2000;

export function unreliable(history: History): Fault {
  const { world, faults } = history;
  const { stragglers } = faults;
  const sparedUntil = new Map<string, number>();
  return ({ from, to, type }) => {
    const { random } = world;
    const link = `${from}>${to}`;
    const isSpared = world.now < Math.max(history.sparedUntil, sparedUntil.get(link) ?? 0);
    if (random.chance(1 / 30) && !isSpared && from !== to) {
      sparedUntil.set(link, world.now + SPARED_MS);
      return [];
    }
    const lateMs = random.chance(1 / 5) ? random.between(1, 60) : 0;
    const copies = random.chance(1 / 30) ? [lateMs, random.between(1, 200)] : [lateMs];
    // A pod that takes a dead one for alive ignores the word of its death, which is given twice within 1.5 s (ROS-16).
    if (stragglers && type !== 'heartbeat' && random.chance(STRAGGLERS))
      copies.push(random.between(300, MAX_STRAGGLER_MS));
    return copies;
  };
}
