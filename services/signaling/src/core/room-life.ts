/** How long the record of a named room is kept without a use. SPEC rules ROOM-10, ROOM-11 and ROOM-13. */
import type { Limits } from '@parley/protocol/limits';
import type { RoomRecord } from './ports.ts';

const RENEWALS = 30;

/** A use is recorded at most once in this time. */
export const renewalInterval = (idleMs: number): number => Math.ceil(idleMs / RENEWALS);

/** How long the store keeps a room after its last write: a use that caused no write is younger than the interval of renewals. */
export const roomLifetime = (idleMs: number): number => idleMs + renewalInterval(idleMs);

/** The same of this record, where it has a life of its own. */
export const ownLifetime = ({ idleMs }: RoomRecord): number | undefined =>
  idleMs === undefined ? undefined : roomLifetime(idleMs);

/** Rooms of calls leave half of the region to rooms with a name that was chosen. */
export const roomsFor = ({ idleMs }: RoomRecord, max: number): number =>
  idleMs === undefined ? max : Math.floor(max / 2);

export interface IdleTimes {
  readonly idleMs: number;
  /** Of the room of a call that was used. */
  readonly callIdleMs: number;
}

export const idleTimes = (limits: Limits): IdleTimes => ({
  idleMs: limits['room.idleTimeout'],
  callIdleMs: limits['room.callIdleTimeout'],
});

/** The record after a use: the same one, or that of a call that was used for the first time. */
export function usedRecord(record: RoomRecord, { callIdleMs }: IdleTimes): RoomRecord {
  if (record.idleMs === undefined || record.idleMs === callIdleMs) return record;
  return { ...record, idleMs: callIdleMs };
}
