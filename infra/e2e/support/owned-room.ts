/** A named room, and the page of its owner. */
import type { CreateRoomAnswer, CreateRoomRequest } from '@parley/protocol/http';
import type { TestSite } from './site.ts';

export interface OwnedRoom {
  /** As in links. */
  readonly room: string;
  readonly ownerKey: string;
}

export async function createRoom({ stack }: TestSite, asked: CreateRoomRequest): Promise<OwnedRoom> {
  const answer = await fetch(`${stack.endpoints.api}/rooms`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(asked),
  });
  if (!answer.ok) throw new Error(`the room ${asked.name}: ${answer.status} ${await answer.text()}`);
  const { room, ownerKey } = (await answer.json()) as CreateRoomAnswer;
  return { room: room.room, ownerKey };
}

/** Runs in the page, before its scripts: those who have the key of a room enter it as its owner. */
export function keepOwnerKey({ room, ownerKey }: OwnedRoom): void {
  localStorage.setItem(`parley.owner.${room}`, ownerKey);
}
