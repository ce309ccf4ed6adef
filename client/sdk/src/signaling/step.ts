/** Where the connection to a room is. */
import type { RetryWait } from './retry-wait.ts';
import type { RoomSocket } from './socket.ts';

export type Step =
  | { readonly at: 'idle' }
  | { readonly at: 'choosing'; readonly abort: AbortController }
  | { readonly at: 'admitting'; readonly abort: AbortController }
  | { readonly at: 'opening'; readonly socket: RoomSocket; readonly fresh: boolean }
  | { readonly at: 'lobby-waiting'; readonly socket: RoomSocket }
  | { readonly at: 'connected'; readonly socket: RoomSocket }
  | { readonly at: 'waiting'; readonly wait: RetryWait }
  | { readonly at: 'ended' };

/** Ends what is under way. */
export function abandon(step: Step): void {
  if (step.at === 'admitting' || step.at === 'choosing') step.abort.abort();
  if (step.at === 'opening' || step.at === 'lobby-waiting' || step.at === 'connected') step.socket.close();
  if (step.at === 'waiting') step.wait.cancel();
}
