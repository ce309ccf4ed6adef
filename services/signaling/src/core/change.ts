/** A participant changes its name or its media: microphone, camera, screen or raised hand. SPEC rules ROS-15 and HAND-1. */
import type { Input } from './input.ts';
import { changeInLobby } from './lobby.ts';
import { putOwn } from './roster/section.ts';
import { holderOf, type Pod } from './state.ts';

export function change(pod: Pod, input: Input & { type: 'change' }): void {
  const found = holderOf(pod, input.socket);
  if (found === undefined) return changeInLobby(pod, input);
  const { name, media } = input;
  const { room, entry } = found;
  putOwn(pod, room, { ...entry, name: name ?? entry.name, media: media ?? entry.media });
  return undefined;
}
