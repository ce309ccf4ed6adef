/** One broadcast that is watched: its connection, state and figures. The page renders its signals. */
import { openRelay, type Connection } from '@parley/sdk/sfu/transports';
import { signal, type ReadonlySignal, type Signal } from '@preact/signals';
import { HISTORY_SECONDS, Meter } from '../streams/meter.ts';
import type { Player, PlayerStats } from './ports.ts';
import { BROKEN, LOST, UNSUPPORTED } from './refusals.ts';
import { RelayLink, SPREAD_MS, type Link } from './relay-link.ts';
import { LiveRelays } from './relay-request.ts';

/** The first state: not published since the page was opened; `gone`: published before, and ended. */
export type BroadcastState = 'not-started' | 'starting' | 'playing' | 'gone';

export interface WatchFigures extends PlayerStats {
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

export const NO_WATCH_FIGURES: WatchFigures = {
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
  history: Array.from({ length: HISTORY_SECONDS }, () => 0),
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
  readonly broadcast: ReadonlySignal<BroadcastState>;
  readonly figures: ReadonlySignal<WatchFigures>;
  readonly canvas: ReadonlySignal<HTMLCanvasElement | null>;
  readonly sound: ReadonlySignal<boolean>;
  setSound(on: boolean): void;
  retry(): void;
}

const TICK_MS = 1000;
/** A frozen frame of this duration may mean that the relay is dead, which QUIC notices only after ten seconds. */
const STALL_MS = 800;
const STALL_CHECK_MS = 250;
const ANSWER_MS = 700;

/** After a reconnection the broadcast counts as missing only after this time: its announcement takes a moment. */
const ANNOUNCE_TIMEOUT_MS = 3000;

/** The state after the library reported the status of the broadcast. `settled`: the connection has existed long enough. */
export function nextBroadcastState(
  before: BroadcastState,
  status: 'offline' | 'loading' | 'live',
  settled = true,
): BroadcastState {
  if (status === 'live') return 'playing';
  const known = before === 'playing' || before === 'gone';
  if (status === 'loading') return known ? before : 'starting';
  if (!known) return 'not-started';
  return settled ? 'gone' : before;
}

export class WatchSession implements WatchView {
  readonly name: string;
  readonly link: Signal<Link> = signal<Link>({ at: 'connecting' });
  readonly broadcast: Signal<BroadcastState> = signal<BroadcastState>('not-started');
  readonly figures: Signal<WatchFigures> = signal(NO_WATCH_FIGURES);
  readonly canvas: Signal<HTMLCanvasElement | null> = signal<HTMLCanvasElement | null>(null);
  readonly sound: Signal<boolean> = signal(false);
  readonly #meter = new Meter(performance.now());
  readonly #tickTimer: ReturnType<typeof setInterval>;
  readonly #stallTimer: ReturnType<typeof setInterval>;
  #player: Omit<Player<Connection>, 'setConnection'> | null = null;
  #relay: Pick<RelayLink<Connection>, 'connect' | 'leave' | 'close'> | null = null;
  #status: 'offline' | 'loading' | 'live' = 'offline';
  #probing = false;
  #closed = false;
  #connections = 0;
  #before = { bytes: 0, frames: 0, at: performance.now() };
  /** The byte count at the last data. */
  #lastBytes = 0;
  /** The current connection delivered data. One without data may still be good: the publisher may have lost the same relay. */
  #receivedData = false;
  #lastAt = performance.now();

  constructor(name: string) {
    this.name = name;
    this.#tickTimer = setInterval(() => this.#tick(), TICK_MS);
    this.#stallTimer = setInterval(() => this.#checkStall(), STALL_CHECK_MS);
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
    clearInterval(this.#tickTimer);
    clearInterval(this.#stallTimer);
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
      this.#updateBroadcast();
    });
    this.#player = player;
    this.canvas.value = player.canvas;
    const relays = new LiveRelays(this.name, false);
    this.#relay = new RelayLink({
      ask: (exclude) => relays.request(exclude),
      open: ({ relay }, last) => openRelay(library.connect, relay, relay.api ?? location.origin, last),
      lost: LOST.watch,
      spreadMs: SPREAD_MS,
      serves: async (connection, broadcast) =>
        (await player.isAnnounced(connection, broadcast, ANSWER_MS)) || this.#status !== 'live',
      onLink: (link) => this.#linked(link),
      onConnection: (connection) => player.setConnection(connection),
    });
    this.#relay.connect();
  }

  #linked(link: Link): void {
    const moved = this.link.peek().at === 'open';
    this.link.value = link;
    if (link.at !== 'open') return;
    if (!moved) this.#connections += 1;
    this.#receivedData = false;
    this.#lastAt = performance.now();
  }

  /** A pause is not always a lost connection: the relay is asked, so that viewers do not all reconnect because their sender paused. */
  async #probe(): Promise<void> {
    if (this.#probing || this.#player === null) return;
    this.#probing = true;
    const link = this.link.peek();
    const alive = await this.#player.isAlive(ANSWER_MS);
    this.#probing = false;
    if (!alive && !this.#closed && link === this.link.peek()) this.#relay?.leave();
  }

  #updateBroadcast(): void {
    const link = this.link.peek();
    const settled = link.at === 'open' && performance.now() - link.since > ANNOUNCE_TIMEOUT_MS;
    this.broadcast.value = nextBroadcastState(this.broadcast.peek(), this.#status, settled);
  }

  #checkStall(): void {
    const bytes = this.#player?.stats().bytes ?? 0;
    const now = performance.now();
    if (bytes !== this.#lastBytes) {
      this.#lastBytes = bytes;
      this.#lastAt = now;
      this.#receivedData = true;
    } else if (
      this.link.peek().at === 'open' &&
      this.broadcast.peek() === 'playing' &&
      this.#receivedData &&
      now - this.#lastAt > STALL_MS
    ) {
      void this.#probe();
    }
  }

  #tick(): void {
    this.#updateBroadcast();
    const now = performance.now();
    const stats = this.#player?.stats();
    if (!stats) return;
    // A new decoder counts from zero.
    const more = (count: number, before: number): number => (count >= before ? count - before : count);
    const bytes = more(stats.bytes, this.#before.bytes);
    const frames = more(stats.frames, this.#before.frames);
    if (bytes > 0) this.#meter.count(bytes, now);
    const { bits, history } = this.#meter.read(now);
    const link = this.link.peek();
    this.figures.value = {
      ...stats,
      bits,
      history,
      totalBytes: this.#meter.bytes,
      rate: frames / ((now - this.#before.at) / 1000),
      connectedMs: link.at === 'open' ? now - link.since : null,
      reconnects: Math.max(0, this.#connections - 1),
      quietMs: now - this.#lastAt,
    };
    this.#before = { bytes: stats.bytes, frames: stats.frames, at: now };
  }
}
