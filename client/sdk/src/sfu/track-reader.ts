/**
 * A track of a participant's broadcast: the frames of all its groups as they arrive, from several groups at once. A subscription that ends, for
 * example because a relay could not serve it in time, is renewed while the broadcast exists.
 */
import type { Broadcast, Group, Track } from '@moq/net';
import type { Clock } from '../ports.ts';
import { boundWaits } from './bounded-waits.ts';
import type { Closeable } from './media-ports.ts';

export interface ReaderHandlers {
  onFrame(group: number, index: number, bytes: Uint8Array): void;
  onEnded(group: number, frames: number): void;
  /** The rest of a group will not arrive: the group or this reader is late. */
  onCut?(): void;
}

/** A reader that is further behind continues with the newest groups. */
const MAX_OPEN = 4;
/** How long the rest of a group is still read after the next group began. */
const LATEST_MS = 1000;
const AGAIN_MS = 500;

export function readTrack(
  broadcast: Broadcast.Consumer,
  { name, priority }: { readonly name: string; readonly priority: number },
  handlers: ReaderHandlers,
  clock: Clock,
): Closeable {
  let subscriber: Track.Subscriber | null = null;
  let cancel: () => void = () => undefined;
  const open: Group.Consumer[] = [];
  let closed = false;

  const readGroup = async (group: Group.Consumer): Promise<void> => {
    try {
      for (;;) {
        const frame = await group.readFrameSequence();
        if (closed) return;
        if (frame === undefined) break;
        handlers.onFrame(group.sequence, frame.sequence, frame.payload);
        count.set(group, frame.sequence + 1);
      }
      handlers.onEnded(group.sequence, count.get(group) ?? 0);
    } catch {
      // The next group starts from the beginning.
      if (!closed) handlers.onCut?.();
    } finally {
      open.splice(open.indexOf(group), 1);
    }
  };
  const count = new Map<Group.Consumer, number>();
  const readAll = async (from: Track.Subscriber): Promise<void> => {
    for (;;) {
      const group = await from.recvGroup();
      if (group === undefined || closed) return;
      open.push(group);
      if (open.length > MAX_OPEN) open[0]?.close();
      void readGroup(group).finally(() => count.delete(group));
    }
  };
  const subscribe = (): void => {
    if (closed || broadcast.closed.peek() !== undefined) return;
    boundWaits(broadcast.closed);
    subscriber = broadcast.track(name).subscribe({ priority, latencyMax: LATEST_MS });
    const again = (): void => {
      if (!closed) cancel = clock.after(AGAIN_MS, subscribe);
    };
    readAll(subscriber).then(again, again);
  };
  subscribe();
  return {
    close: () => {
      closed = true;
      cancel();
      subscriber?.close();
      for (const group of open) group.close();
    },
  };
}
