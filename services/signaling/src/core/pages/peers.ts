/** The other pods, as their heartbeats show them. SPEC rules PAGE-9, PAGE-12. */
import type { PodId } from '@parley/protocol/ids';
import { requestFrom } from './section-requests.ts';
import type { PagesState, Peer } from './state.ts';
import { tagOf } from './tag.ts';

export function updatePeer(state: PagesState, pod: PodId, peer: Peer): void {
  if (!state.peers.has(pod)) requestFrom(state, pod);
  state.peers.set(pod, peer);
  state.tags.set(tagOf(pod), pod);
}

export function forgetPeer(state: PagesState, pod: PodId): void {
  state.peers.delete(pod);
  state.tags.delete(tagOf(pod));
}
