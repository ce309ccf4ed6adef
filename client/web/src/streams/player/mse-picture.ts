/** H.264 and its like, by the browser's own decoder behind Media Source Extensions. mpegts.js repacks; it never sees the socket. */
import mpegts from 'mpegts.js';
import type { Picture, PictureOptions, Seen } from './picture.ts';

/** Seconds behind the newest frame that the page aims at: two or three messages of a camera that sends in bursts. */
const TARGET_S = 0.6;
/** Behind this it plays faster until it is at the target again. */
const LATE_S = 1.2;
const FASTER = 1.15;
/** Behind this it jumps: catching up would take half a minute. */
const JUMP_S = 5;
/** Played seconds that are kept: nothing can be played again. */
const KEPT_S = 10;
/** What comes before the browser has opened the media source. In a tab that was never looked at it does not: then the newest is kept. */
const EARLY_BYTES = 2 ** 21;

export function msePicture({ picture, sound, onTrouble }: PictureOptions): Picture {
  mpegts.LoggingControl.enableAll = false;
  const video = document.createElement('video');
  video.muted = true;
  video.autoplay = true;
  video.playsInline = true;
  let sink: ((packets: Uint8Array<ArrayBuffer>) => void) | null = null;
  /** The tables come first and are never given up. */
  let early: Uint8Array<ArrayBuffer>[] = [];
  let earlyBytes = 0;

  function hold(packets: Uint8Array<ArrayBuffer>): void {
    if (earlyBytes > EARLY_BYTES) {
      early = early.slice(0, 1);
      earlyBytes = 0;
    }
    early.push(packets);
    earlyBytes += packets.length;
  }

  /** Gives the player what `feed` is given. */
  class Feed extends mpegts.BaseLoader {
    #bytes = 0;

    constructor() {
      super('parley-feed');
    }

    override open(): void {
      sink = (packets) => {
        const begin = this.#bytes;
        this.#bytes += packets.length;
        this.onDataArrival(packets.buffer, begin, this.#bytes);
      };
      for (const packets of early.splice(0)) sink(packets);
    }

    override abort(): void {
      sink = null;
    }

    override destroy(): void {
      sink = null;
      super.destroy();
    }
  }

  const player = mpegts.createPlayer(
    { type: 'mpegts', isLive: true, url: 'feed:', hasVideo: picture, hasAudio: sound },
    {
      customLoader: Feed,
      isLive: true,
      enableStashBuffer: false,
      lazyLoad: false,
      liveSync: true,
      liveSyncTargetLatency: TARGET_S,
      liveSyncMaxLatency: LATE_S,
      liveSyncPlaybackRate: FASTER,
      liveBufferLatencyChasing: true,
      liveBufferLatencyChasingOnPaused: true,
      liveBufferLatencyMaxLatency: JUMP_S,
      liveBufferLatencyMinRemain: TARGET_S,
      autoCleanupSourceBuffer: true,
      autoCleanupMaxBackwardDuration: KEPT_S,
      autoCleanupMinBackwardDuration: KEPT_S / 2,
      fixAudioTimestampGap: false,
    },
  );
  player.on(mpegts.Events.ERROR, (_kind: string, detail: string) => onTrouble(detail));
  // What was lost on the way leaves a hole, before which a player would wait for ever.
  for (const event of ['waiting', 'progress']) video.addEventListener(event, () => skipHole(video));
  player.attachMediaElement(video);
  player.load();
  video.play().catch(() => {});

  return {
    element: video,
    feed(packets) {
      if (sink) sink(packets);
      else hold(packets);
    },
    seen: () => seenOf(video),
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

function skipHole(video: HTMLVideoElement): void {
  if (video.readyState >= HTMLMediaElement.HAVE_FUTURE_DATA) return;
  const { buffered, currentTime } = video;
  for (let range = 0; range < buffered.length; range++)
    if (buffered.start(range) > currentTime) {
      video.currentTime = buffered.start(range);
      return;
    }
}

function seenOf(video: HTMLVideoElement): Seen {
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
