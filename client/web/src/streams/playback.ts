/** Plays an MPEG-TS: loads the player, and restarts it when the program changes or the player fails. */
import { signal } from '@preact/signals';
import { planFor, codecsOf, type Plan, type CanPlay } from './playback-plan.ts';
import type { Player, PlayerOptions, PlayerStats } from './player/player.ts';
import { ProgramReader, tablesOf, type Program } from './transport/program.ts';

export type PlaybackState =
  | { readonly at: 'detecting' }
  | { readonly at: 'loading'; readonly codecs: string }
  | {
      readonly at: 'playing';
      readonly codecs: string;
      readonly element: HTMLElement;
      readonly picture: boolean;
      readonly sound: boolean;
      readonly note: string | null;
    }
  | { readonly at: 'unplayable'; readonly codecs: string; readonly reason: string };

/** Data that arrives while the code of the player loads: some seconds of 4 Mbps. */
const EARLY_BYTES = 2 ** 21;
/** After this many players without a frame the stream itself is at fault. */
const MAX_TRIES = 3;
/** Data without frames: the decoder hangs, or waits for a key frame, which cameras send within ten seconds. */
const STALLED_S = 12;
/** The pause between two players. */
const RESTART_PAUSE_MS = 1000;
const UNDECODABLE =
  'The video cannot be decoded. It is damaged, or this browser does not support its format. With ffmpeg, use -c:v libx264 -pix_fmt yuv420p.';

/** The browser functions that a screen needs. */
export interface PlaybackPorts {
  readonly canPlay: CanPlay;
  load(): Promise<(options: PlayerOptions) => Player>;
  /** Milliseconds. */
  now(): number;
  /** Whether the page is hidden: then nothing is decoded, which is no fault. */
  hidden(): boolean;
}

export class Playback {
  readonly state = signal<PlaybackState>({ at: 'detecting' });
  readonly #audible: () => boolean;
  readonly #ports: PlaybackPorts;
  #reader = new ProgramReader();
  #program: Program | null = null;
  #plan: Plan | null = null;
  #codecs = '';
  #player: Player | null = null;
  /** Grows with every player: an outdated one is not shown. */
  #generation = 0;
  #early: Uint8Array<ArrayBuffer>[] = [];
  #earlyBytes = 0;
  #tries = 0;
  #startedAt = -Infinity;
  #waiting = false;
  #gapsBefore = 0;
  #gotData = false;
  #stalledSeconds = 0;
  #frames = 0;

  constructor(audible: () => boolean, ports: PlaybackPorts = browser) {
    this.#audible = audible;
    this.#ports = ports;
  }

  get gaps(): number {
    return this.#gapsBefore + this.#reader.gaps;
  }

  push(message: Uint8Array): void {
    for (const part of this.#reader.push(message))
      if (part.what === 'program') this.#change(part.program);
      else this.#feed(part.bytes);
  }

  /** A new connection: its data does not continue the previous one. */
  reset(): void {
    this.#gapsBefore = this.gaps;
    this.#reader = new ProgramReader();
  }

  stats(): PlayerStats | null {
    return this.#player?.stats() ?? null;
  }

  /** Returns whether the sound is now as requested. */
  setSound(on: boolean): Promise<boolean> {
    return this.#player?.setSound(on) ?? Promise.resolve(true);
  }

  /** Called once a second. Detects a player that gets data and shows no frames. */
  tick(): void {
    const frames = this.#player?.stats().frames ?? 0;
    const state = this.state.peek();
    const stalled =
      state.at === 'playing' &&
      state.picture &&
      this.#gotData &&
      frames === this.#frames &&
      !this.#ports.hidden();
    this.#stalledSeconds = stalled ? this.#stalledSeconds + 1 : 0;
    if (frames > this.#frames) this.#tries = 0;
    this.#frames = frames;
    this.#gotData = false;
    if (this.#stalledSeconds >= STALLED_S) this.#fail();
    if (this.#waiting && this.#program) this.#begin(this.#program);
  }

  close(): void {
    this.#generation += 1;
    this.#player?.close();
    this.#player = null;
  }

  #change(program: Program): void {
    this.#program = program;
    if (this.state.peek().at === 'unplayable') this.#tries = 0;
    const now = this.#ports.now();
    if (now - this.#startedAt >= RESTART_PAUSE_MS) this.#begin(program);
    else this.#prepare(program);
  }

  /** Prepares everything but the player, which the next tick creates: a stream that changes constantly gets one player per second. */
  #prepare(program: Program): Plan {
    const plan = planFor(program, this.#ports.canPlay);
    this.close();
    this.#codecs = codecsOf(program);
    this.#plan = plan;
    this.#stalledSeconds = 0;
    this.#frames = 0;
    this.#early = !plan.playable ? [] : [tablesOf(program, plan.tracks)];
    this.#earlyBytes = 0;
    this.#waiting = plan.playable;
    this.state.value = !plan.playable
      ? { at: 'unplayable', codecs: this.#codecs, reason: plan.reason }
      : { at: 'loading', codecs: this.#codecs };
    return plan;
  }

  #begin(program: Program): void {
    const plan = this.#prepare(program);
    this.#startedAt = this.#ports.now();
    this.#waiting = false;
    if (!plan.playable) return;
    const generation = this.#generation;
    const options = {
      picture: plan.picture,
      sound: plan.sound,
      onError: () => queueMicrotask(() => generation === this.#generation && this.#fail()),
    };
    this.#ports
      .load()
      .then((make) => {
        if (generation === this.#generation) this.#start(make(options), plan);
      })
      .catch(() => {
        if (generation === this.#generation) this.#giveUp('The player did not load. Load the page again.');
      });
  }

  #start(player: Player, plan: Extract<Plan, { playable: true }>): void {
    this.#player = player;
    for (const bytes of this.#early.splice(0)) player.feed(bytes);
    if (this.#audible()) void player.setSound(true);
    this.state.value = {
      at: 'playing',
      codecs: this.#codecs,
      element: player.element,
      picture: plan.picture,
      sound: plan.sound,
      note: plan.note,
    };
  }

  #feed(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#plan?.playable === false) return;
    this.#gotData = true;
    if (this.#player) this.#player.feed(bytes);
    else if (this.#earlyBytes < EARLY_BYTES) {
      this.#early.push(bytes);
      this.#earlyBytes += bytes.length;
    }
  }

  #fail(): void {
    this.#tries += 1;
    if (this.#tries >= MAX_TRIES || !this.#program) this.#giveUp(UNDECODABLE);
    else this.#prepare(this.#program);
  }

  #giveUp(reason: string): void {
    this.close();
    this.#plan = { playable: false, reason };
    this.#early = [];
    this.state.value = { at: 'unplayable', codecs: this.#codecs, reason };
  }
}

const browser: PlaybackPorts = {
  canPlay(type) {
    // iPhones have only ManagedMediaSource.
    const { ManagedMediaSource } = globalThis as { ManagedMediaSource?: typeof MediaSource };
    const Source = ManagedMediaSource ?? globalThis.MediaSource;
    return Source?.isTypeSupported(type) ?? false;
  },
  // Loaded only for a stream that needs it.
  load: async () => (await import('./player/mse-player.ts')).msePlayer,
  now: () => performance.now(),
  hidden: () => document.visibilityState === 'hidden',
};
