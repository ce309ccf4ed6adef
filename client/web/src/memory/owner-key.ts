/** The owner keys of named rooms that were created in this browser. */
import { browserStore } from './storage.ts';

const key = (room: string): string => `parley.owner.${room}`;

export const ownerKey = (room: string): string | null => browserStore.read(key(room));
export const setOwnerKey = (room: string, value: string | null): void => browserStore.write(key(room), value);
