/** The owner keys of rooms that were created in this browser. */
import { browserStore } from './storage.ts';

const key = (room: string): string => `parley.owner.${room}`;

export const ownerKey = (room: string): string | null => browserStore.read(key(room));
export const setOwnerKey = (room: string, value: string | null): void => browserStore.write(key(room), value);

const CALLS = 'parley.calls';
/** More than a user makes before the service deletes the rooms. */
const MAX_CALLS = 100;

/** The key of the room of a new call. Only the newest are kept: a user does not delete such rooms. */
export function setCallKey(room: string, value: string): void {
  const rooms = [...(browserStore.read(CALLS)?.split(' ') ?? []), room];
  for (const old of rooms.slice(0, -MAX_CALLS)) setOwnerKey(old, null);
  browserStore.write(CALLS, rooms.slice(-MAX_CALLS).join(' '));
  setOwnerKey(room, value);
}

/** The new call that the service could give no owner, until its page has said so. */
let ownerless: string | null = null;

export function noteOwnerless(room: string): void {
  ownerless = room;
}

/** Whether this call has no owner and its user has not read that yet; from now on they have. */
export function takeOwnerless(room: string): boolean {
  const is = ownerless === room;
  if (is) ownerless = null;
  return is;
}
