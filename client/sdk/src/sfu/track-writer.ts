/**
 * One published track, on one connection or, while a relay is replaced, on two. Groups have the same numbers on both. The numbers grow while the
 * page lives, even for new subscribers: a relay takes a lower number for an old group.
 */
import { Group, Time, type Broadcast, type Track } from '@moq/net';
import { encodeFrame, type Frame } from './frames.ts';
import type { FrameSealer } from './e2ee/frame-cipher.ts';
import { TrackCounters } from './track-counters.ts';

export class TrackWriter {
  readonly name: string;
  /** A new subscriber, which has no data yet, subscribed, or the last one left. */
  onWanted: () => void = () => undefined;
  readonly counters = new TrackCounters();
  readonly #sealer: FrameSealer | null;
  readonly #tracks = new Map<Track.Producer, Group.Producer | null>();
  #sequence = 0;
  #index = 0;
  /** The pending encryption of written frames: frames are sent in the order in which they were written. */
  #before: Promise<void> = Promise.resolve();

  constructor(name: string, sealer: FrameSealer | null = null) {
    this.name = name;
    this.#sealer = sealer;
  }

  get wanted(): boolean {
    return [...this.#tracks.keys()].some((track) => track.used.peek());
  }

  serve(broadcast: Broadcast.Producer): void {
    const track = broadcast.createTrack(this.name);
    this.#tracks.set(track, null);
    const noMore = track.used.subscribe(() => this.onWanted());
    // The library leaves the tracks of an ended broadcast open.
    void Promise.race([track.closed, broadcast.closed]).then(() => {
      noMore();
      this.#tracks.delete(track);
      track.close();
      this.onWanted();
    });
  }

  /** Begins a group and ends the previous one. */
  begin(): void {
    this.#sequence += 1;
    this.#index = 0;
    const sequence = this.#sequence;
    this.#inOrder(() => {
      this.#endGroups();
      for (const track of this.#tracks.keys()) {
        if (track.closed.peek() !== undefined) continue;
        const group = new Group.Producer(sequence);
        track.writeGroup(group);
        this.#tracks.set(track, group);
      }
    });
  }

  write(frame: Frame): void {
    const [sequence, index] = [this.#sequence, this.#index];
    this.#index += 1;
    const bytes = encodeFrame(frame);
    const timestamp = Time.Timestamp.fromMicros(Math.round(frame.timestamp));
    this.counters.sent(bytes.byteLength);
    this.counters.frames += 1;
    const send = (payload: Uint8Array): void => {
      for (const group of this.#tracks.values())
        if (group !== null && !group.isClosed) group.writeFrame({ payload, timestamp });
    };
    const sealer = this.#sealer;
    this.#inOrder(
      sealer === null ? () => send(bytes) : async () => send(await sealer.encrypt(sequence, index, bytes)),
    );
  }

  end(): void {
    this.#inOrder(() => this.#endGroups());
  }

  #endGroups(): void {
    for (const [track, group] of this.#tracks) {
      group?.close();
      this.#tracks.set(track, null);
    }
  }

  /** Runs at once without encryption. */
  #inOrder(act: () => void | Promise<void>): void {
    if (this.#sealer === null) void act();
    else {
      // After a missing frame, the numbers of the rest of the group differ from those it was encrypted with: the next group starts again.
      this.#before = this.#before.then(act).catch(() => this.#endGroups());
    }
  }
}
