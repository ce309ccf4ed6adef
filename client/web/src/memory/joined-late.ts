/** Whether others were in the room before this participant, also after a reload. */
import type { CallSnapshot } from '@parley/sdk/call';
import { tabStore } from './storage.ts';

const key = (room: string): string => `parley.late.${room}`;

/** For a snapshot that is connected. The first one of a participant decides; one that comes back as another participant still has its chat. */
export function joinedLate({ room, me, people, chat }: CallSnapshot): boolean {
  const [participant, late] = (tabStore.read(key(room)) ?? '').split(' ');
  if (participant === me.participant) return late === 'late';
  const isLate = people.length > 0 && chat.length === 0;
  tabStore.write(key(room), `${me.participant} ${isLate ? 'late' : 'first'}`);
  return isLate;
}
