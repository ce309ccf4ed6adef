/** Plays an MPEG-TS: loads the player, and restarts it when the programme changes or the player fails. */
import { signal } from '@preact/signals';
import { planFor, codecsOf, type Plan, type Plays } from './plan.ts';
import type { Picture, PictureOptions, Seen } from './player/picture.ts';
import { ProgrammeReader, tablesOf, type Programme } from './transport/programme.ts';

export type Show =
  | { readonly at: 'looking' }
  | { readonly at: 'loading'; readonly codecs: string }
  | {
      readonly at: 'playing';
      readonly codecs: string;
      readonly element: HTMLElement;
      readonly picture: boolean;
      readonly sound: boolean;
      readonly note: string | null;
    }
  | { readonly at: 'unplayable'; readonly codecs: string; readonly why: string };

/** Data that arrives while the code of the player loads: some seconds of 4 Mbps. */
const EARLY_BYTES = 2 ** 21;
/** After this many players without a frame the stream itself is at fault. */
const TRIES = 3;
/** Data without frames: the decoder hangs, or waits for a key frame, which cameras send within ten seconds. */
const STALLED_S = 12;
/** The pause between two players. */
const CALM_MS = 1000;
const BROKEN =
  'The video cannot be decoded. It is damaged, or this browser does not support its format. With ffmpeg, use -c:v libx264 -pix_fmt yuv420p.';

/** The browser functions that a screen needs. */
export interface ScreenPorts {
  readonly plays: Plays;
  load(): Promise<(options: PictureOptions) => Picture>;
  /** Milliseconds. */
  now(): number;
  /** Whether the page is hidden: then nothing is decoded, which is no fault. */
  hidden(): boolean;
}

export class Screen {
  readonly show = signal<Show>({ at: 'looking' });
  readonly #audible: () => boolean;
  readonly #ports: ScreenPorts;
  #reader = new ProgrammeReader();
  #programme: Programme | null = null;
  #plan: Plan | null = null;
  #codecs = '';
  #picture: Picture | null = null;
  /** Grows with every player: an outdated one is not shown. */
  #turn = 0;
  #early: Uint8Array<ArrayBuffer>[] = [];
  #earlyBytes = 0;
  #tries = 0;
  #begunAt = -Infinity;
  #waiting = false;
  #gapsBefore = 0;
  #fed = false;
  #still = 0;
  #frames = 0;

  constructor(audible: () => boolean, ports: ScreenPorts = browser) {
    this.#audible = audible;
    this.#ports = ports;
  }

  get gaps(): number {
    return this.#gapsBefore + this.#reader.gaps;
  }

  push(message: Uint8Array): void {
    for (const part of this.#reader.push(message))
      if (part.what === 'programme') this.#change(part.programme);
      else this.#feed(part.bytes);
  }

  /** A new connection: its data does not continue the previous one. */
  reset(): void {
    this.#gapsBefore = this.gaps;
    this.#reader = new ProgrammeReader();
  }

  seen(): Seen | null {
    return this.#picture?.seen() ?? null;
  }

  /** Returns whether the sound is now as requested. */
  setSound(on: boolean): Promise<boolean> {
    return this.#picture?.setSound(on) ?? Promise.resolve(true);
  }

  /** Called once a second. Detects a player that gets data and shows no frames. */
  tick(): void {
    const frames = this.#picture?.seen().frames ?? 0;
    const show = this.show.peek();
    const stuck =
      show.at === 'playing' && show.picture && this.#fed && frames === this.#frames && !this.#ports.hidden();
    this.#still = stuck ? this.#still + 1 : 0;
    if (frames > this.#frames) this.#tries = 0;
    this.#frames = frames;
    this.#fed = false;
    if (this.#still >= STALLED_S) this.#fail();
    if (this.#waiting && this.#programme) this.#begin(this.#programme);
  }

  close(): void {
    this.#turn += 1;
    this.#picture?.close();
    this.#picture = null;
  }

  #change(programme: Programme): void {
    this.#programme = programme;
    if (this.show.peek().at === 'unplayable') this.#tries = 0;
    const now = this.#ports.now();
    if (now - this.#begunAt >= CALM_MS) this.#begin(programme);
    else this.#prepare(programme);
  }

  /** Prepares everything but the player, which the next tick creates: a stream that changes constantly gets one player per second. */
  #prepare(programme: Programme): Plan {
    const plan = planFor(programme, this.#ports.plays);
    this.close();
    this.#codecs = codecsOf(programme);
    this.#plan = plan;
    this.#still = 0;
    this.#frames = 0;
    this.#early = !plan.playable ? [] : [tablesOf(programme, plan.tracks)];
    this.#earlyBytes = 0;
    this.#waiting = plan.playable;
    this.show.value = !plan.playable
      ? { at: 'unplayable', codecs: this.#codecs, why: plan.reason }
      : { at: 'loading', codecs: this.#codecs };
    return plan;
  }

  #begin(programme: Programme): void {
    const plan = this.#prepare(programme);
    this.#begunAt = this.#ports.now();
    this.#waiting = false;
    if (!plan.playable) return;
    const turn = this.#turn;
    const options = {
      picture: plan.picture,
      sound: plan.sound,
      onTrouble: () => queueMicrotask(() => turn === this.#turn && this.#fail()),
    };
    this.#ports
      .load()
      .then((make) => {
        if (turn === this.#turn) this.#start(make(options), plan);
      })
      .catch(() => {
        if (turn === this.#turn) this.#giveUp('The player did not load. Load the page again.');
      });
  }

  #start(picture: Picture, plan: Extract<Plan, { playable: true }>): void {
    this.#picture = picture;
    for (const bytes of this.#early.splice(0)) picture.feed(bytes);
    if (this.#audible()) void picture.setSound(true);
    this.show.value = {
      at: 'playing',
      codecs: this.#codecs,
      element: picture.element,
      picture: plan.picture,
      sound: plan.sound,
      note: plan.note,
    };
  }

  #feed(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#plan?.playable === false) return;
    this.#fed = true;
    if (this.#picture) this.#picture.feed(bytes);
    else if (this.#earlyBytes < EARLY_BYTES) {
      this.#early.push(bytes);
      this.#earlyBytes += bytes.length;
    }
  }

  #fail(): void {
    this.#tries += 1;
    if (this.#tries >= TRIES || !this.#programme) this.#giveUp(BROKEN);
    else this.#prepare(this.#programme);
  }

  #giveUp(why: string): void {
    this.close();
    this.#plan = { playable: false, reason: why };
    this.#early = [];
    this.show.value = { at: 'unplayable', codecs: this.#codecs, why };
  }
}

const browser: ScreenPorts = {
  plays(type) {
    // iPhones have only ManagedMediaSource.
    const { ManagedMediaSource } = globalThis as { ManagedMediaSource?: typeof MediaSource };
    const Source = ManagedMediaSource ?? globalThis.MediaSource;
    return Source?.isTypeSupported(type) ?? false;
  },
  // Loaded only for a stream that needs it.
  load: async () => (await import('./player/mse-picture.ts')).msePicture,
  now: () => performance.now(),
  hidden: () => document.visibilityState === 'hidden',
};
