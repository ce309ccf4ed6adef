/** The record of a named room of eu: `standup`, for ten, open, with the given changes. */
import type { RoomRecord } from '../../src/core/ports.ts';

export const recordOf = (change: Partial<RoomRecord> = {}): RoomRecord => ({
  name: 'standup',
  region: 'eu',
  cap: 10,
  hardCap: false,
  locked: false,
  lobby: false,
  bans: [],
  kicked: [],
  mutes: { all: false, participants: [] },
  coOwners: [],
  calls: 0,
  ownerKeyHash: 'hash',
  createdAt: 1,
  ...change,
});
