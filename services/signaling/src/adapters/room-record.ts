/** A record of a named room as it is stored and sent, with the fields that rooms from before moderation have not. */
import type { RoomRecord as StoredRecord } from '@parley/protocol/home';
import { NO_MUTES } from '@parley/protocol/people';
import type { RoomRecord } from '../core/ports.ts';

export function roomRecord(stored: StoredRecord): RoomRecord {
  const {
    hardCap = false,
    lobby = false,
    bans = [],
    kicked = [],
    mutes = NO_MUTES,
    coOwners = [],
    calls = 0,
    ...record
  } = stored;
  const named = bans.map(({ device, network, ...ban }) => ({ ...ban, device, network }));
  return { ...record, hardCap, lobby, bans: named, kicked, mutes, coOwners, calls };
}

/** Fields without a value are left out. */
export function storedRecord({ bans, kicked, mutes, coOwners, ...record }: RoomRecord): StoredRecord {
  const named = bans.map(({ device, network, ...ban }) => ({
    ...ban,
    ...(device === undefined ? {} : { device }),
    ...(network === undefined ? {} : { network }),
  }));
  const copied = { all: mutes.all, participants: [...mutes.participants] };
  return {
    ...record,
    bans: named,
    kicked: kicked.map((one) => ({ ...one })),
    mutes: copied,
    ...(coOwners.length > 0 ? { coOwners: [...coOwners] } : {}),
  };
}
