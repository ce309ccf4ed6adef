/** Plays H.264 and similar codecs by Media Source Extensions. mpegts.js converts MPEG-TS to fMP4; it does not see the socket. */
import mpegts from 'mpegts.js';
import type { Player, PlayerOptions, PlayerStats } from './player.ts';

/** The delay behind the newest frame that the player aims at: two or three messages of a camera that sends in bursts. */
const TARGET_S = 0.6;
/** Above this delay it plays faster, until it is at the target again. */
const LATE_S = 1.2;
const FASTER = 1.15;
/** Above this delay it seeks: playing faster would take half a minute. */
const SEEK_S = 5;
/** Played seconds that stay buffered: a viewer cannot seek back. */
const KEPT_S = 10;
/**
 * Bytes that wait for the browser to open the media source. It does not open in a tab that was never visible: then only the newest bytes
 * are kept.
 */
const MAX_WAITING_BYTES = 2 ** 21;

export function msePlayer({ picture, sound, onError }: PlayerOptions): Player {
  mpegts.LoggingControl.enableAll = false;
  const video = document.createElement('video');
  video.muted = true;
  video.autoplay = true;
  video.playsInline = true;
  const queue = new PacketQueue();
  const player = mpegts.createPlayer(
    { type: 'mpegts', isLive: true, url: 'queue:', hasVideo: picture, hasAudio: sound },
    { ...CONFIG, customLoader: loaderOf(queue) },
  );
  player.on(mpegts.Events.ERROR, (_kind: string, detail: string) => onError(detail));
  // Lost packets leave a gap in the buffer, before which a player would wait for ever.
  for (const event of ['waiting', 'progress']) video.addEventListener(event, () => skipGap(video));
  player.attachMediaElement(video);
  player.load();
  video.play().catch(() => {});

  return {
    element: video,
    feed: (packets) => queue.push(packets),
    stats: () => statsOf(video),
    async setSound(on) {
      video.muted = !on;
      try {
        await video.play();
        return true;
      } catch {
        video.muted = true;
        return false;
      }
    },
    close() {
      player.destroy();
      video.remove();
    },
  };
}

const CONFIG = {
  isLive: true,
  enableStashBuffer: false,
  lazyLoad: false,
  liveSync: true,
  liveSyncTargetLatency: TARGET_S,
  liveSyncMaxLatency: LATE_S,
  liveSyncPlaybackRate: FASTER,
  liveBufferLatencyChasing: true,
  liveBufferLatencyChasingOnPaused: true,
  liveBufferLatencyMaxLatency: SEEK_S,
  liveBufferLatencyMinRemain: TARGET_S,
  autoCleanupSourceBuffer: true,
  autoCleanupMaxBackwardDuration: KEPT_S,
  autoCleanupMinBackwardDuration: KEPT_S / 2,
  fixAudioTimestampGap: false,
} as const;

type Packets = Uint8Array<ArrayBuffer>;

/** Passes packets to the loader, and keeps them until there is one. */
class PacketQueue {
  #sink: ((packets: Packets) => void) | null = null;
  /** The first element has the tables and is never dropped. */
  #waiting: Packets[] = [];
  #waitingBytes = 0;

  push(packets: Packets): void {
    if (this.#sink) {
      this.#sink(packets);
      return;
    }
    if (this.#waitingBytes > MAX_WAITING_BYTES) {
      this.#waiting = this.#waiting.slice(0, 1);
      this.#waitingBytes = 0;
    }
    this.#waiting.push(packets);
    this.#waitingBytes += packets.length;
  }

  open(sink: (packets: Packets) => void): void {
    this.#sink = sink;
    for (const packets of this.#waiting.splice(0)) sink(packets);
  }

  close(): void {
    this.#sink = null;
  }
}

/** mpegts.js takes its input from a loader class: this one reads the queue. */
const loaderOf = (queue: PacketQueue) =>
  class QueueLoader extends mpegts.BaseLoader {
    #bytes = 0;

    constructor() {
      super('parley-queue');
    }

    override open(): void {
      queue.open((packets) => {
        const begin = this.#bytes;
        this.#bytes += packets.length;
        this.onDataArrival(packets.buffer, begin, this.#bytes);
      });
    }

    override abort(): void {
      queue.close();
    }

    override destroy(): void {
      queue.close();
      super.destroy();
    }
  };

function skipGap(video: HTMLVideoElement): void {
  if (video.readyState >= HTMLMediaElement.HAVE_FUTURE_DATA) return;
  const { buffered, currentTime } = video;
  for (let range = 0; range < buffered.length; range++)
    if (buffered.start(range) > currentTime) {
      video.currentTime = buffered.start(range);
      return;
    }
}

function statsOf(video: HTMLVideoElement): PlayerStats {
  const { totalVideoFrames, droppedVideoFrames } = video.getVideoPlaybackQuality();
  const { buffered } = video;
  return {
    width: video.videoWidth,
    height: video.videoHeight,
    frames: totalVideoFrames,
    dropped: droppedVideoFrames,
    lag: buffered.length > 0 ? Math.max(0, buffered.end(buffered.length - 1) - video.currentTime) : null,
  };
}
