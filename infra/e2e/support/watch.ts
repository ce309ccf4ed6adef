/** What a page shows and plays during a failure: removed tiles, new notices, pictures that freeze, voices that stop. */

import type { AnyPage } from './any-page.ts';

export interface Watched {
  readonly tilesGone: number;
  /** Texts, in order. */
  readonly notices: readonly string[];
  /** RTCPeerConnections. */
  readonly connectionsMade: number;
  readonly interruptions: readonly Interruption[];
  /** The longest time that the page itself stalled, as it does on an overloaded machine. */
  readonly stalledMs: number;
}

/** The longest interruptions of another participant's picture and voice, those that still last included. */
export interface Interruption {
  readonly of: string;
  /**
   * Between two displayed frames, without the time in which the page stalled; infinite before the first frame. A page that did not render for a
   * moment is told of the newest of several frames only: the time is then divided by their number.
   */
  readonly stillMs: number;
  /** The same, with the time in which the page stalled: what comes through relays stands still then. */
  readonly frozenMs: number;
  /** Without received audio packets; packets that arrive during a stall of the page are counted after it. */
  readonly silentMs: number;
}

/** What the functions below keep on `globalThis` of a page. A page receives each of them as text, so they share nothing else. */
interface PageScope {
  parleyClock: PageClock;
  /** Starts to watch a participant's picture; the result reads the longest interruption so far, ms: without stalls of the page, and with them. */
  parleyWatchPicture(participant: string): () => { readonly stillMs: number; readonly frozenMs: number };
  parleyWatchVoice(participant: string): () => number;
  parleyWatched(): Watched;
  parleyConnections: readonly RTCPeerConnection[];
}

interface PageClock {
  /** A clock that stops while the page is stalled, ms. */
  readonly awake: () => number;
  readonly stalledMs: () => number;
  /** Whether the page has not rendered for a moment since then, on the clock of `performance`. */
  readonly lateSince: (at: number) => boolean;
}

/** From now on the page watches the participants that have a tile now. */
export async function watch(page: AnyPage): Promise<void> {
  await page.evaluate(startClock);
  await page.evaluate(preparePictures);
  await page.evaluate(prepareVoices);
  await page.evaluate(beginToWatch);
}

/** What the page has seen since `watch`. */
export function watched(page: AnyPage): Promise<Watched> {
  return page.evaluate(() => (globalThis as unknown as PageScope).parleyWatched());
}

/** Runs in the page. */
function startClock(): void {
  const tickEveryMs = 50;
  /** A page whose tick is later than this has stalled: during the rest of the delay it could not show a picture. */
  const tickLateMs = 250;
  let [tickedAt, awakeMs, stalledMs] = [performance.now(), 0, 0];
  const awake = (): number => awakeMs + Math.min(tickLateMs, performance.now() - tickedAt);
  setInterval(() => {
    awakeMs = awake();
    stalledMs = Math.max(stalledMs, performance.now() - tickedAt);
    tickedAt = performance.now();
  }, tickEveryMs);
  /** A page that renders more seldom is not told of each frame. */
  const renderLateMs = 50;
  let [renderedAt, lateAt] = [performance.now(), 0];
  const render = (): void => {
    const now = performance.now();
    if (now - renderedAt > renderLateMs) lateAt = now;
    renderedAt = now;
    requestAnimationFrame(render);
  };
  render();
  const lateSince = (at: number): boolean => lateAt > at || performance.now() - renderedAt > renderLateMs;
  (globalThis as unknown as PageScope).parleyClock = { awake, stalledMs: () => stalledMs, lateSince };
}

/** Runs in the page, after `startClock`. */
function preparePictures(): void {
  const lookEveryMs = 50;
  /** Chromium drops the frame callback of a video when its stream gets another track, so it is requested again. */
  const requestAgainMs = 300;
  const scope = globalThis as unknown as PageScope;
  const { awake, lateSince } = scope.parleyClock;

  // The video element is looked up each time: a tile may get another one for its picture.
  scope.parleyWatchPicture = (participant) => {
    let [shownAt, longest] = [Number.NEGATIVE_INFINITY, 0];
    let [frozenAt, frozen] = [Number.NEGATIVE_INFINITY, 0];
    let followed: HTMLVideoElement | null = null;
    let [requested, requestedAt, presented, notedAt] = [0, 0, 0, 0];
    const longestMs = (): { stillMs: number; frozenMs: number } => ({
      stillMs: Math.max(longest, awake() - shownAt),
      frozenMs: Math.max(frozen, performance.now() - frozenAt),
    });
    const follow = (): void => {
      const tile = `[data-testid=tile][data-participant="${participant}"]`;
      const video = document.querySelector<HTMLVideoElement>(`${tile} video`);
      if (video === followed && awake() - requestedAt < requestAgainMs) return;
      if (video === followed) video?.cancelVideoFrameCallback(requested);
      if (video !== followed) presented = 0;
      followed = video;
      const request = (): void => {
        requestedAt = awake();
        requested = video?.requestVideoFrameCallback(note) ?? 0;
      };
      const note = (_now: number, { presentedFrames }: VideoFrameCallbackMetadata): void => {
        if (video !== followed) return;
        const frames = lateSince(notedAt) ? Math.max(1, presentedFrames - presented) : 1;
        [presented, notedAt] = [presentedFrames, performance.now()];
        if (Number.isFinite(shownAt)) {
          longest = Math.max(longest, (awake() - shownAt) / frames);
          frozen = Math.max(frozen, (performance.now() - frozenAt) / frames);
        }
        [shownAt, frozenAt] = [awake(), performance.now()];
        request();
      };
      request();
    };
    follow();
    setInterval(follow, lookEveryMs);
    return longestMs;
  };
}

/** Runs in the page. */
function prepareVoices(): void {
  const lookEveryMs = 100;
  /** The duration of the sound in one packet: the default of Opus in WebRTC. */
  const packetMs = 20;
  const scope = globalThis as unknown as PageScope;

  // The element and its receiver are looked up each time: the voice may have moved to another connection.
  const packetsOf = async (participant: string): Promise<number> => {
    const voice = document.querySelector<HTMLAudioElement>(`[data-testid=voice][data-of="${participant}"]`);
    const track = voice?.srcObject instanceof MediaStream ? voice.srcObject.getAudioTracks()[0] : undefined;
    const receivers = scope.parleyConnections.flatMap((connection) => connection.getReceivers());
    const report = await receivers.find((receiver) => receiver.track === track)?.getStats();
    let packets = 0;
    report?.forEach((row: Record<string, unknown>) => {
      if (row['type'] === 'inbound-rtp') packets = Number(row['packetsReceived']);
    });
    return packets;
  };

  scope.parleyWatchVoice = (participant) => {
    let [receivedAt, longest, before] = [performance.now(), 0, 0];
    const look = async (): Promise<void> => {
      const packets = await packetsOf(participant);
      // A new connection counts from 0 again.
      const more = packets >= before ? packets - before : packets;
      longest = Math.max(longest, performance.now() - receivedAt - more * packetMs);
      if (more > 0) [receivedAt, before] = [performance.now(), packets];
      setTimeout(() => void look(), lookEveryMs);
    };
    void look();
    return () => longest;
  };
}

/** Runs in the page, after `startClock`, `preparePictures` and `prepareVoices`. */
function beginToWatch(): void {
  const scope = globalThis as unknown as PageScope;
  const notices: string[] = [];
  let tilesGone = 0;
  const connectionsBefore = scope.parleyConnections.length;

  const within = (node: Node, testId: string): HTMLElement[] =>
    node instanceof HTMLElement
      ? [node, ...node.querySelectorAll<HTMLElement>('*')].filter((one) => one.dataset['testid'] === testId)
      : [];
  new MutationObserver((changes) => {
    for (const { addedNodes, removedNodes } of changes) {
      for (const node of removedNodes) tilesGone += within(node, 'tile').length;
      for (const node of addedNodes) notices.push(...within(node, 'notice').map((one) => one.innerText));
    }
  }).observe(document.body, { childList: true, subtree: true });

  const tiles = document.querySelectorAll<HTMLElement>('[data-testid=tile]:not([data-self])');
  const others = [...tiles].map((tile) => {
    const of = tile.dataset['participant'] ?? '';
    return { of, still: scope.parleyWatchPicture(of), silent: scope.parleyWatchVoice(of) };
  });
  scope.parleyWatched = () => ({
    tilesGone,
    notices,
    connectionsMade: scope.parleyConnections.length - connectionsBefore,
    interruptions: others.map(({ of, still, silent }) => {
      const { stillMs, frozenMs } = still();
      return {
        of,
        stillMs: Math.round(stillMs),
        frozenMs: Math.round(frozenMs),
        silentMs: Math.round(silent()),
      };
    }),
    stalledMs: Math.round(scope.parleyClock.stalledMs()),
  });
}
