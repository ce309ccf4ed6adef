/** Opens a new call in a room that belongs to this browser, or without an owner where the service makes no such room. SPEC rule ROOM-13. */
import { adHocRoomId } from '@parley/protocol/ids';
import { signal } from '@preact/signals';
import { noteOwnerless, setCallKey } from '../memory/owner-key.ts';
import { go, path } from '../navigate.ts';
import { createRoom } from '../rooms-api.ts';
import { roomPath } from '../route.ts';
import { loadCall } from './room-visit.ts';

/** A round trip on a slow network. A user who waits longer prefers a call without an owner. */
const PATIENCE_MS = 1500;

export const isOpening = signal(false);

export async function newRoom(): Promise<void> {
  if (isOpening.peek()) return;
  isOpening.value = true;
  const from = path.peek();
  void loadCall().catch(() => {});
  const made = await createRoom({}, PATIENCE_MS);
  isOpening.value = false;
  // The user opened another page in the meantime.
  if (path.peek() !== from) return;
  if (!made.ok) {
    const room = adHocRoomId(crypto.getRandomValues(new Uint8Array(16)));
    noteOwnerless(room);
    go(roomPath(room));
    return;
  }
  const { room, ownerKey } = made.value;
  setCallKey(room.room, ownerKey);
  go(roomPath(room.room));
}
