/** The other pods, as their heartbeats show them. SPEC rules PAGE-9, PAGE-12. */
import type { PodId } from '@parley/protocol/ids';
import { askForAll } from './section-requests.ts';
import type { Desk, Peer } from './state.ts';
import { tagOf } from './tag.ts';

export function hearPeer(desk: Desk, pod: PodId, peer: Peer): void {
  if (!desk.peers.has(pod)) askForAll(desk, pod);
  desk.peers.set(pod, peer);
  desk.tags.set(tagOf(pod), pod);
}

export function forgetPeer(desk: Desk, pod: PodId): void {
  desk.peers.delete(pod);
  desk.tags.delete(tagOf(pod));
}
