/** Static broadcasts: every state of the pages for live video without a relay. */
import { signal } from '@preact/signals';
import { NO_PUBLISH_FIGURES, type PublishFigures, type PublishView } from '../../src/live/publish-session.ts';
import { LOST, REFUSALS } from '../../src/live/refusals.ts';
import type { Link } from '../../src/live/relay-link.ts';
import {
  NO_WATCH_FIGURES,
  type BroadcastState,
  type WatchFigures,
  type WatchView,
} from '../../src/live/watch-session.ts';
import type { MediaProblem } from '../../src/media/devices.ts';
import { LocalMedia } from '../../src/media/local-media.ts';
import { fakeDevices, type FakeDeviceOptions } from './fake-media.ts';
import { paintedLab, WATCHED } from './fake-stream.ts';

export const OVER_QUIC: Link = { at: 'open', since: 0, transport: 'WebTransport' };
export const OVER_TCP: Link = { at: 'open', since: 0, transport: 'WebSocket' };
export const waiting = (code: string): Link => ({
  at: 'waiting',
  reason: REFUSALS[code] ?? LOST.watch,
  until: performance.now() + 7000,
});
export const stopped = (code: string): Link => ({ at: 'stopped', reason: REFUSALS[code] ?? LOST.watch });

const SEEN: WatchFigures = {
  ...NO_WATCH_FIGURES,
  bits: WATCHED.bits,
  history: WATCHED.history,
  totalBytes: 91_400_000,
  codecs: ['avc1.640028', 'opus'],
  width: 1280,
  height: 720,
  rate: 30,
  bufferMs: 104,
  picture: true,
  sound: true,
  connectedMs: 653_000,
};

export interface FakeWatch {
  readonly name?: string;
  readonly link?: Link;
  readonly broadcast?: BroadcastState;
  readonly figures?: Partial<WatchFigures>;
  readonly sound?: boolean;
}

export function fakeWatch(state: FakeWatch): WatchView {
  const broadcast = state.broadcast ?? 'playing';
  const seen = broadcast === 'playing' || broadcast === 'gone';
  const connectedMs = (state.link ?? OVER_QUIC).at === 'open' ? SEEN.connectedMs : null;
  return {
    name: state.name ?? 'spring-concert',
    link: signal(state.link ?? OVER_QUIC),
    broadcast: signal(broadcast),
    figures: signal({ ...(seen ? SEEN : NO_WATCH_FIGURES), connectedMs, ...state.figures }),
    canvas: signal(seen && (state.figures?.width ?? 1) > 0 ? paintedLab() : document.createElement('canvas')),
    sound: signal(state.sound ?? false),
    setSound() {},
    retry() {},
  };
}

export interface FakePublish {
  readonly link?: Link | null;
  readonly devices?: FakeDeviceOptions;
  readonly screen?: MediaStream;
  readonly screenProblem?: MediaProblem;
  readonly figures?: Partial<PublishFigures>;
}

export function fakePublish(state: FakePublish): PublishView {
  const media = new LocalMedia(fakeDevices(state.devices ?? {}));
  void media.begin();
  const sent = {
    width: 1280,
    height: 720,
    bits: 2_000_000,
    codecs: ['avc1.640028', 'opus'],
    hasViewers: true,
    connectedMs: 653_000,
  };
  return {
    name: 'spring-concert',
    media,
    screen: signal(state.screen ?? null),
    screenProblem: signal(state.screenProblem ?? null),
    link: signal(state.link ?? null),
    figures: signal({ ...NO_PUBLISH_FIGURES, ...(state.link?.at === 'open' ? sent : {}), ...state.figures }),
    shareScreen: () => Promise.resolve(),
    endScreen() {},
    goLive() {},
    stop() {},
    retry() {},
  };
}
