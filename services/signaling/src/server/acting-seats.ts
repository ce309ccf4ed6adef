/** Decides seats here, where this region answers for the room's home, and otherwise asks the region that does. SPEC rules MOD-7, HOME-3, HOME-14. */
import { parseRoomId, type RegionId } from '@parley/protocol/ids';
import type { Homes } from './homes.ts';
import type { Commit } from './seat-keeper.ts';
import type { SeatWriter } from './seat-writer.ts';
import type { Terms } from './terms.ts';

export interface ActingSeatsParts {
  readonly region: RegionId;
  readonly terms: Pick<Terms, 'actingFor' | 'term' | 'isSettling'>;
  readonly writer: Pick<SeatWriter, 'commit'>;
  readonly homes: Pick<Homes, 'changeSeats'>;
}

export function actingSeats({ region, terms, writer, homes }: ActingSeatsParts): Commit {
  return async (room, changes, memory) => {
    const reference = parseRoomId(room.room);
    const home = reference?.kind === 'named' ? reference.region : region;
    if (terms.actingFor(home) !== region) return homes.changeSeats(room, changes);
    const term = terms.term(home);
    // Under each term the seats are claimed from the beginning.
    const seats = term === 0 ? room : { ...room, name: `${home}.${term}.${room.name}` };
    if (!terms.isSettling(home)) return (await writer.commit(seats, changes, memory)) ?? 'unavailable';
    const claims = changes.filter(({ act }) => act !== 'take');
    const claimed = claims.length === 0 ? { decisions: [] } : await writer.commit(seats, claims, memory);
    if (claimed === undefined) return 'unavailable';
    let next = 0;
    const decisions = changes.map(({ act }) =>
      act === 'take' ? ('full' as const) : (claimed.decisions[next++] ?? ('taken' as const)),
    );
    return { ...claimed, decisions };
  };
}
