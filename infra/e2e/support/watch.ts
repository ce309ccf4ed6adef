/** What a page shows and plays while something fails under it: tiles that go, notices that come, pictures that stand still, voices that stop. */

export interface Watched {
  readonly tilesGone: number;
  /** Texts, in order. */
  readonly notices: readonly string[];
  /** RTCPeerConnections. */
  readonly connectionsMade: number;
  readonly interruptions: readonly Interruption[];
  /** The longest time that the page itself stood still, as on a machine with more to do than it can. */
  readonly stalledMs: number;
}

/** The longest ones of another person's picture and voice, the ones that still last included. */
export interface Interruption {
  readonly of: string;
  /** Between two frames that were shown, not just decoded, while the page did not stall; infinite before the first of them. */
  readonly stillMs: number;
  /** For which no sound came in, whatever the page did: what came during a stall is counted after it. */
  readonly silentMs: number;
}

interface Watching {
  parleyWatched(): Watched;
  parleyConnections: readonly RTCPeerConnection[];
}

/** Runs in the page: begins to watch whoever has a tile now. */
export function beginToWatch(): void {
  const lookEveryMs = 100;
  const tickEveryMs = 50;
  /** A page that is this late with a tick has stalled: more of it is not time in which it would have shown a picture. */
  const tickLateMs = 250;
  /** Chromium forgets who waits for a frame when a stream gets another track. */
  const askAgainMs = 300;
  /** What one packet holds: the default of Opus in WebRTC. */
  const packetMs = 20;
  const scope = globalThis as unknown as Watching;
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

  let [tickedAt, awakeMs, stalledMs] = [performance.now(), 0, 0];
  /** The time as far as the page was there to see it. */
  const awake = (): number => awakeMs + Math.min(tickLateMs, performance.now() - tickedAt);
  setInterval(() => {
    awakeMs = awake();
    stalledMs = Math.max(stalledMs, performance.now() - tickedAt);
    tickedAt = performance.now();
  }, tickEveryMs);

  /** Looked up each time: a tile may get another element for its picture. */
  const pictureOf = (participant: string): (() => number) => {
    let [shownAt, longest] = [Number.NEGATIVE_INFINITY, 0];
    let followed: HTMLVideoElement | null = null;
    let [asked, askedAt] = [0, 0];
    const longestMs = (): number => Math.max(longest, awake() - shownAt);
    const follow = (): void => {
      const tile = `[data-testid=tile][data-participant="${participant}"]`;
      const video = document.querySelector<HTMLVideoElement>(`${tile} video`);
      if (video === followed && awake() - askedAt < askAgainMs) return;
      if (video === followed) video?.cancelVideoFrameCallback(asked);
      followed = video;
      const ask = (): void => {
        askedAt = awake();
        asked = video?.requestVideoFrameCallback(note) ?? 0;
      };
      const note = (): void => {
        if (video !== followed) return;
        if (Number.isFinite(shownAt)) longest = longestMs();
        shownAt = awake();
        ask();
      };
      ask();
    };
    follow();
    setInterval(follow, tickEveryMs);
    return longestMs;
  };

  /** Looked up each time: a voice may come over another connection by now. */
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
  const voiceOf = (participant: string): (() => number) => {
    let [heardAt, longest, before] = [performance.now(), 0, 0];
    const look = async (): Promise<void> => {
      const packets = await packetsOf(participant);
      // Over a new connection they are counted from nothing again.
      const more = packets >= before ? packets - before : packets;
      longest = Math.max(longest, performance.now() - heardAt - more * packetMs);
      if (more > 0) [heardAt, before] = [performance.now(), packets];
      setTimeout(() => void look(), lookEveryMs);
    };
    void look();
    return () => longest;
  };

  const others = [...document.querySelectorAll<HTMLElement>('[data-testid=tile]:not([data-self])')].map(
    (tile) => {
      const of = tile.dataset['participant'] ?? '';
      return { of, still: pictureOf(of), silent: voiceOf(of) };
    },
  );
  scope.parleyWatched = () => ({
    tilesGone,
    notices,
    connectionsMade: scope.parleyConnections.length - connectionsBefore,
    interruptions: others.map(({ of, still, silent }) => ({
      of,
      stillMs: Math.round(still()),
      silentMs: Math.round(silent()),
    })),
    stalledMs: Math.round(stalledMs),
  });
}

/** Runs in the page: what it has seen since. */
export function readWatched(): Watched {
  return (globalThis as unknown as Watching).parleyWatched();
}
