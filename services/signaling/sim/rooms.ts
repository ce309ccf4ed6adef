/** The rooms of a history. A participant stays in the room that it joined. */
import type { RoomView } from '@parley/protocol/http';
import { adHoc } from '../test/support/ad-hoc.ts';
import type { World } from '../test/support/world.ts';
import type { Faults } from './kinds.ts';

const SECOND = 'aaaa-bbbb-cccc-eeee';
const THIRD = 'aaaa-bbbb-cccc-ffff';
const MIN_CAP = 2;
const MAX_CAP = 5;

export function roomsOf(world: World, { rooms, owned }: Faults): RoomView[] {
  const others = [SECOND, THIRD].slice(0, rooms - 1).map((room) => ({ ...adHoc(), room }));
  if (!owned) return [adHoc(), ...others];
  const { random, store } = world;
  const cap = random.between(MIN_CAP, MAX_CAP);
  return [store.make('panel', { cap, lobby: random.chance(0.5) }), ...others];
}

/** Named rooms have an owner. */
export const isOwned = ({ kind }: RoomView): boolean => kind === 'named';
