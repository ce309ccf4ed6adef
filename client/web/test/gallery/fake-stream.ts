/** Static streams: every state of the page without a relay or a player. */
import { signal } from '@preact/signals';
import { DISCONNECT_REASONS } from '../../src/streams/disconnect-reasons.ts';
import type { Line } from '../../src/streams/lines.ts';
import type { PlaybackState } from '../../src/streams/playback.ts';
import { NO_FIGURES, type Figures, type Kind, type StreamView } from '../../src/streams/stream-session.ts';
import type { Link } from '../../src/streams/stream-socket.ts';

const RATES = Array.from(
  { length: 60 },
  (_, second) => 1_120_000 + 160_000 * Math.sin(second / 2.3) * Math.cos(second),
);

export const WATCHED: Figures = {
  ...NO_FIGURES,
  bits: 1_120_000,
  messages: 30.3,
  history: RATES,
  totalBytes: 91_400_000,
  totalMessages: 19_590,
  codecs: 'H.264 + AAC',
  width: 1280,
  height: 720,
  frames: 30,
  dropped: 2,
  lag: 0.62,
  gaps: 0,
  connectedMs: 653_000,
  quietMs: 20,
  lastBytes: 1316,
};

export interface FakeStream {
  readonly topic?: string;
  readonly link?: Link;
  readonly kind?: Kind;
  readonly playback?: PlaybackState;
  readonly figures?: Partial<Figures>;
  readonly lines?: readonly Line[];
  readonly sample?: Uint8Array;
  readonly sound?: 'off' | 'on' | 'refused';
}

export function fakeStream(state: FakeStream): StreamView {
  return {
    topic: state.topic ?? 'out/cam',
    link: signal(state.link ?? { at: 'open', since: 0 }),
    kind: signal(state.kind ?? 'nothing'),
    playback: signal(state.playback ?? { at: 'detecting' }),
    figures: signal({ ...NO_FIGURES, connectedMs: 4000, ...state.figures }),
    lines: signal(state.lines ?? []),
    sample: signal(state.sample ?? new Uint8Array()),
    sound: signal(state.sound ?? 'off'),
    setSound() {},
    retry() {},
    useToken() {},
  };
}

export function playing(change: Partial<Extract<PlaybackState, { at: 'playing' }>> = {}): PlaybackState {
  return {
    at: 'playing',
    codecs: 'H.264 + AAC',
    element: paintedLab(),
    picture: true,
    sound: true,
    note: null,
    ...change,
  };
}

export const closed = (code: string, at: 'waiting' | 'stopped' = 'stopped'): Link => {
  const reason = DISCONNECT_REASONS[code];
  if (!reason) throw new Error(`no such code: ${code}`);
  return at === 'stopped' ? { at, reason } : { at, reason, until: performance.now() + 7000 };
};

/** A picture as of a camera above a workbench. */
export function paintedLab(): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = 1280;
  canvas.height = 720;
  const paint = canvas.getContext('2d');
  if (!paint) return canvas;
  const light = paint.createLinearGradient(0, 0, 900, 720);
  light.addColorStop(0, '#31594f');
  light.addColorStop(0.6, '#8a9c7c');
  light.addColorStop(1, '#d7a75f');
  paint.fillStyle = light;
  paint.fillRect(0, 0, 1280, 720);
  paint.fillStyle = '#1c2b27';
  paint.fillRect(0, 560, 1280, 160);
  for (const [x, height, colour] of [
    [240, 210, '#c96a4a'],
    [520, 300, '#2a7a64'],
    [820, 170, '#f0b860'],
  ] as const) {
    paint.fillStyle = colour;
    paint.beginPath();
    paint.roundRect(x, 560 - height, 150, height, 22);
    paint.fill();
  }
  return canvas;
}

export const SENSOR: readonly Line[] = Array.from({ length: 60 }, (_, number) => ({
  number,
  at: 1_792_000_000_000 + number * 201,
  text: `{"sensor":"t${1 + (number % 3)}","celsius":${(21.4 + Math.sin(number / 5) / 2).toFixed(2)},"ok":true}`,
  bytes: 44,
  binary: false,
  cut: false,
}));

export const HOSTILE: readonly Line[] = [
  '<img src=x onerror=alert(1)><script>alert(2)</script>',
  '\u202Eright to left\u202C and a\nsecond line',
  'word'.repeat(400),
].map((text, number) => ({
  number,
  at: 1_792_000_000_000,
  text,
  bytes: 10_485_760,
  binary: false,
  cut: number === 2,
}));
