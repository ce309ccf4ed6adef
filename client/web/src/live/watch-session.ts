/** One broadcast that is watched: its connection, state and figures. The page renders its signals. */
import { openRelay, type Connection } from '@parley/sdk/sfu/transports';
import { signal, type ReadonlySignal, type Signal } from '@preact/signals';
import { HISTORY, Meter } from '../streams/meter.ts';
import type { Player, Seen } from './ports.ts';
import { BROKEN, LOST, UNSUPPORTED } from './refusals.ts';
import { RelayLink, SPREAD_MS, type Link } from './relay-link.ts';
import { requestRelay } from './way-in.ts';

/** The first state: not published since the page was opened; `gone`: published before, and ended. */
export type Broadcast = 'nobody' | 'starting' | 'playing' | 'gone';

export interface WatchFigures extends Seen {
  /** Bits per second, and their history, one value per second. */
  readonly bits: number;
  readonly history: readonly number[];
  readonly totalBytes: number;
  /** Frames per second. */
  readonly rate: number;
  readonly connectedMs: number | null;
  readonly reconnects: number;
  /** Time since the last data. */
  readonly quietMs: number;
}

export const NO_FIGURES: WatchFigures = {
  bytes: 0,
  frames: 0,
  width: 0,
  height: 0,
  codecs: [],
  bufferMs: 0,
  picture: false,
  playable: true,
  sound: false,
  bits: 0,
  history: Array.from({ length: HISTORY }, () => 0),
  totalBytes: 0,
  rate: 0,
  connectedMs: null,
  reconnects: 0,
  quietMs: 0,
};

/** The interface of a session for the page; the gallery has its own. */
export interface WatchView {
  readonly name: string;
  readonly link: ReadonlySignal<Link>;
  readonly broadcast: ReadonlySignal<Broadcast>;
  readonly figures: ReadonlySignal<WatchFigures>;
  readonly canvas: ReadonlySignal<HTMLCanvasElement | null>;
  readonly sound: ReadonlySignal<boolean>;
  setSound(on: boolean): void;
  retry(): void;
}

const TICK_MS = 1000;
/** A frozen frame of this duration may mean that the relay is dead, which QUIC notices only after ten seconds. */
const DOUBT_MS = 800;
const LOOK_MS = 250;
const ANSWER_MS = 700;

/** After a reconnection the broadcast counts as missing only after this time: its announcement takes a moment. */
const ANNOUNCED_MS = 3000;

/** The state after the library reported the status of the broadcast. `settled`: the connection has existed long enough. */
export function broadcastAfter(
  before: Broadcast,
  status: 'offline' | 'loading' | 'live',
  settled = true,
): Broadcast {
  if (status === 'live') return 'playing';
  const known = before === 'playing' || before === 'gone';
  if (status === 'loading') return known ? before : 'starting';
  if (!known) return 'nobody';
  return settled ? 'gone' : before;
}

export class WatchSession implements WatchView {
  readonly name: string;
  readonly link: Signal<Link> = signal<Link>({ at: 'connecting' });
  readonly broadcast: Signal<Broadcast> = signal<Broadcast>('nobody');
  readonly figures: Signal<WatchFigures> = signal(NO_FIGURES);
  readonly canvas: Signal<HTMLCanvasElement | null> = signal<HTMLCanvasElement | null>(null);
  readonly sound: Signal<boolean> = signal(false);
  readonly #meter = new Meter(performance.now());
  readonly #ticking: ReturnType<typeof setInterval>;
  readonly #looking: ReturnType<typeof setInterval>;
  #player: Omit<Player<Connection>, 'use'> | null = null;
  #relay: Pick<RelayLink<Connection>, 'connect' | 'leave' | 'close'> | null = null;
  #status: 'offline' | 'loading' | 'live' = 'offline';
  #doubting = false;
  #closed = false;
  #connections = 0;
  #before = { bytes: 0, frames: 0, at: performance.now() };
  /** The byte count at the last data. */
  #lastBytes = 0;
  /** The current connection delivered data. One without data may still be good: the publisher may have lost the same relay. */
  #brought = false;
  #lastAt = performance.now();

  constructor(name: string) {
    this.name = name;
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
    this.#looking = setInterval(() => this.#look(), LOOK_MS);
    void this.#begin();
  }

  setSound(on: boolean): void {
    this.sound.value = on;
    this.#player?.setSound(on);
  }

  retry(): void {
    if (this.#relay) this.#relay.connect();
    else void this.#begin();
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#ticking);
    clearInterval(this.#looking);
    this.#relay?.close();
    this.#player?.close();
  }

  async #begin(): Promise<void> {
    this.link.value = { at: 'connecting' };
    if (!('VideoDecoder' in globalThis)) {
      this.link.value = { at: 'stopped', reason: UNSUPPORTED };
      return;
    }
    const library = await import('./player.ts').catch(() => null);
    if (this.#closed) return;
    if (library === null) {
      this.link.value = { at: 'stopped', reason: BROKEN };
      return;
    }
    const player = new library.MoqPlayer((status) => {
      this.#status = status;
      this.#judge();
    });
    this.#player = player;
    this.canvas.value = player.canvas;
    this.#relay = new RelayLink({
      ask: (without) => requestRelay(this.name, false, without),
      open: ({ relay }) => openRelay(library.connect, relay, location.origin),
      lost: LOST.watch,
      spreadMs: SPREAD_MS,
      serves: async (connection, broadcast) =>
        (await player.announces(connection, broadcast, ANSWER_MS)) || this.#status !== 'live',
      onLink: (link) => this.#linked(link),
      onConnection: (connection) => player.use(connection),
    });
    this.#relay.connect();
  }

  #linked(link: Link): void {
    const moved = this.link.peek().at === 'open';
    this.link.value = link;
    if (link.at !== 'open') return;
    if (!moved) this.#connections += 1;
    this.#brought = false;
    this.#lastAt = performance.now();
  }

  /** A pause is not always a lost connection: the relay is asked, so that viewers do not all reconnect because their sender paused. */
  async #doubt(): Promise<void> {
    if (this.#doubting || this.#player === null) return;
    this.#doubting = true;
    const link = this.link.peek();
    const alive = await this.#player.answers(ANSWER_MS);
    this.#doubting = false;
    if (!alive && !this.#closed && link === this.link.peek()) this.#relay?.leave();
  }

  #judge(): void {
    const link = this.link.peek();
    const settled = link.at === 'open' && performance.now() - link.since > ANNOUNCED_MS;
    this.broadcast.value = broadcastAfter(this.broadcast.peek(), this.#status, settled);
  }

  #look(): void {
    const bytes = this.#player?.seen().bytes ?? 0;
    const now = performance.now();
    if (bytes !== this.#lastBytes) {
      this.#lastBytes = bytes;
      this.#lastAt = now;
      this.#brought = true;
    } else if (
      this.link.peek().at === 'open' &&
      this.broadcast.peek() === 'playing' &&
      this.#brought &&
      now - this.#lastAt > DOUBT_MS
    ) {
      void this.#doubt();
    }
  }

  #tick(): void {
    this.#judge();
    const now = performance.now();
    const seen = this.#player?.seen();
    if (!seen) return;
    // A new decoder counts from zero.
    const more = (count: number, before: number): number => (count >= before ? count - before : count);
    const bytes = more(seen.bytes, this.#before.bytes);
    const frames = more(seen.frames, this.#before.frames);
    if (bytes > 0) this.#meter.count(bytes, now);
    const { bits, history } = this.#meter.read(now);
    const link = this.link.peek();
    this.figures.value = {
      ...seen,
      bits,
      history,
      totalBytes: this.#meter.bytes,
      rate: frames / ((now - this.#before.at) / 1000),
      connectedMs: link.at === 'open' ? now - link.since : null,
      reconnects: Math.max(0, this.#connections - 1),
      quietMs: now - this.#lastAt,
    };
    this.#before = { bytes: seen.bytes, frames: seen.frames, at: now };
  }
}
