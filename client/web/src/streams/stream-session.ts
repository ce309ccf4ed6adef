/** One stream that is watched: its socket, kind and figures. The page renders its signals. */
import { signal, type ReadonlySignal, type Signal } from '@preact/signals';
import { requestCode, socketUrl } from './address.ts';
import type { DisconnectReason } from './disconnect-reasons.ts';
import { Lines, type Line } from './lines.ts';
import { Meter, HISTORY_SECONDS } from './meter.ts';
import { Playback, type PlaybackState } from './playback.ts';
import { StreamSocket, type Link } from './stream-socket.ts';
import { looksLikeMpegTs } from './transport/packets.ts';

/** The kind of content of a topic, from its messages so far. */
export type Kind = 'nothing' | 'video' | 'text' | 'bytes';

export interface Figures {
  /** Bits per second, messages per second. */
  readonly bits: number;
  readonly messages: number;
  readonly history: readonly number[];
  readonly totalBytes: number;
  readonly totalMessages: number;
  readonly codecs: string | null;
  readonly width: number;
  readonly height: number;
  /** Per second. */
  readonly frames: number | null;
  readonly dropped: number | null;
  readonly lag: number | null;
  /** Packets that were sent and lost. */
  readonly gaps: number | null;
  readonly connectedMs: number | null;
  readonly reconnects: number;
  /** Since the last message; `null` before the first. */
  readonly quietMs: number | null;
  readonly lastBytes: number;
}

/** The interface of a session for the page; the gallery has its own. */
export interface StreamView {
  readonly topic: string;
  readonly link: ReadonlySignal<Link>;
  readonly kind: ReadonlySignal<Kind>;
  readonly playback: ReadonlySignal<PlaybackState>;
  readonly figures: ReadonlySignal<Figures>;
  readonly lines: ReadonlySignal<readonly Line[]>;
  /** The first bytes of the last binary message. */
  readonly sample: ReadonlySignal<Uint8Array>;
  readonly sound: ReadonlySignal<'off' | 'on' | 'refused'>;
  setSound(on: boolean): void;
  retry(): void;
  useToken(token: string): void;
}

export const NO_FIGURES: Figures = {
  bits: 0,
  messages: 0,
  history: Array.from({ length: HISTORY_SECONDS }, () => 0),
  totalBytes: 0,
  totalMessages: 0,
  codecs: null,
  width: 0,
  height: 0,
  frames: null,
  dropped: null,
  lag: null,
  gaps: null,
  connectedMs: null,
  reconnects: 0,
  quietMs: null,
  lastBytes: 0,
};

const TICK_MS = 1000;
/** The update interval of text, independent of the message rate. */
const LINES_MS = 150;
const SAMPLE_BYTES = 256;

export interface SessionOptions {
  readonly topic: string;
  readonly token: string | null;
  /** From the address of the page: valid for the first socket. */
  readonly code: string | null;
}

export class StreamSession implements StreamView {
  readonly topic: string;
  readonly link: Signal<Link> = signal<Link>({ at: 'connecting' });
  readonly kind: Signal<Kind> = signal<Kind>('nothing');
  readonly figures: Signal<Figures> = signal(NO_FIGURES);
  readonly lines: Signal<readonly Line[]> = signal<readonly Line[]>([]);
  readonly sample: Signal<Uint8Array> = signal(new Uint8Array());
  readonly sound: Signal<'off' | 'on' | 'refused'> = signal<'off' | 'on' | 'refused'>('off');
  readonly playback: ReadonlySignal<PlaybackState>;
  readonly #playback = new Playback(() => this.sound.peek() === 'on');
  readonly #socket: StreamSocket;
  readonly #meter = new Meter(performance.now());
  readonly #lines = new Lines();
  readonly #ticking: ReturnType<typeof setInterval>;
  readonly #encoder = new TextEncoder();
  #token: string | null;
  #code: string | null;
  #kind: Kind = 'nothing';
  #sample: Uint8Array = new Uint8Array();
  #linesTimer: ReturnType<typeof setTimeout> | undefined;
  #connections = 0;
  #lastAt: number | null = null;
  #lastBytes = 0;
  #frames = { count: 0, at: performance.now() };

  constructor({ topic, token, code }: SessionOptions) {
    this.topic = topic;
    this.#token = token;
    this.#code = code;
    this.playback = this.#playback.state;
    this.#socket = new StreamSocket({
      address: () => this.#address(),
      onLink: (link) => this.#linked(link),
      onMessage: (message) => this.#received(message),
    });
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
    this.#socket.connect();
  }

  setSound(on: boolean): void {
    this.sound.value = on ? 'on' : 'off';
    void this.#playback.setSound(on).then((done) => {
      if (!done && on) this.sound.value = 'refused';
    });
  }

  retry(): void {
    this.#socket.connect();
  }

  useToken(token: string): void {
    this.#token = token;
    this.#code = null;
    this.#socket.connect();
  }

  close(): void {
    clearInterval(this.#ticking);
    clearTimeout(this.#linesTimer);
    this.#socket.close();
    this.#playback.close();
  }

  async #address(): Promise<{ readonly url: string } | { readonly refused: DisconnectReason }> {
    const given = this.#code;
    this.#code = null;
    if (given !== null || this.#token === null) return { url: socketUrl(this.topic, given) };
    const answer = await requestCode(this.topic, this.#token);
    return 'refused' in answer ? answer : { url: socketUrl(this.topic, answer.code) };
  }

  #linked(link: Link): void {
    this.link.value = link;
    if (link.at !== 'open') return;
    this.#connections += 1;
    this.#playback.reset();
  }

  #received(message: string | Uint8Array): void {
    const now = performance.now();
    const text = typeof message === 'string';
    const bytes = text ? this.#encoder.encode(message).length : message.length;
    this.#meter.count(bytes, now);
    this.#lastAt = now;
    this.#lastBytes = bytes;
    if (!text && (this.#kind === 'video' || looksLikeMpegTs(message))) {
      this.#become('video');
      this.#playback.push(message);
      return;
    }
    if (this.#kind === 'video') return;
    if (text || this.#kind === 'nothing') this.#become(text ? 'text' : 'bytes');
    this.#lines.push(message, { at: Date.now(), bytes });
    if (!text) this.#sample = message.slice(0, SAMPLE_BYTES);
    this.#linesTimer ??= setTimeout(() => this.#showLines(), LINES_MS);
  }

  #become(kind: Kind): void {
    if (kind === this.#kind) return;
    this.#kind = kind;
    this.kind.value = kind;
  }

  #showLines(): void {
    this.#linesTimer = undefined;
    this.lines.value = this.#lines.read();
    this.sample.value = this.#sample;
  }

  #tick(): void {
    const now = performance.now();
    const link = this.link.peek();
    this.#playback.tick();
    const stats = this.#playback.stats();
    const playback = this.playback.peek();
    const count = stats?.frames ?? 0;
    const frames = Math.max(0, count - this.#frames.count) / ((now - this.#frames.at) / 1000);
    this.#frames = { count, at: now };
    this.figures.value = {
      ...this.#meter.read(now),
      totalBytes: this.#meter.bytes,
      totalMessages: this.#meter.messages,
      codecs: playback.at === 'detecting' ? null : playback.codecs,
      width: stats?.width ?? 0,
      height: stats?.height ?? 0,
      frames: stats ? frames : null,
      dropped: stats?.dropped ?? null,
      lag: stats?.lag ?? null,
      gaps: this.#kind === 'video' ? this.#playback.gaps : null,
      connectedMs: link.at === 'open' ? now - link.since : null,
      reconnects: Math.max(0, this.#connections - 1),
      quietMs: this.#lastAt === null ? null : now - this.#lastAt,
      lastBytes: this.#lastBytes,
    };
  }
}
