/** The keys under which this page sends: a new one when a participant has gone who had the last. SPEC rules MEDIA-16, MEDIA-28. */
import type { Clock, Random } from '../../ports.ts';
import { frameSealer, type FrameSealer } from './frame-cipher.ts';
import { trackBaseKey } from './room-secret.ts';
import { sframeKey, type SFrameKey } from './sframe.ts';

export const KEY_BYTES = 16;
/** From a new key until frames are encrypted with it: it reaches the others in this time, over oceans and on slow devices too. */
const SWITCH_MS = 1000;
/** Where many leave at once, their keys are replaced together. */
const LEAST_MS = 2000;

export interface OwnKey {
  readonly number: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface OwnKeysOptions {
  readonly subtle: SubtleCrypto;
  readonly clock: Clock;
  readonly random: Random;
  readonly room: string;
  /** `{participant}/{instance}`. */
  readonly broadcast: string;
  /** It is used in a moment. */
  readonly onNew: (key: OwnKey) => void;
}

export class OwnKeys {
  readonly #options: OwnKeysOptions;
  #current: OwnKey;
  #next: OwnKey | null = null;
  #rotatedAt = Number.NEGATIVE_INFINITY;
  #cancelSwitch: () => void = () => undefined;
  #cancelWait: (() => void) | null = null;

  constructor(options: OwnKeysOptions) {
    this.#options = options;
    this.#current = this.#make(0);
  }

  /** Those that a participant who comes now needs. */
  get all(): readonly OwnKey[] {
    return this.#next === null ? [this.#current] : [this.#current, this.#next];
  }

  /** A participant who has our keys is gone. */
  rotate(): void {
    if (this.#cancelWait !== null) return;
    const { clock } = this.#options;
    const wait = this.#rotatedAt + LEAST_MS - clock.now();
    if (wait <= 0) this.#begin();
    else this.#cancelWait = clock.after(wait, () => this.#begin());
  }

  /** `track`: its name in our broadcast. */
  sealer(track: string): FrameSealer {
    const { subtle } = this.#options;
    let used: { readonly of: OwnKey; readonly key: Promise<SFrameKey> } | null = null;
    return frameSealer(subtle, () => {
      const own = this.#current;
      if (used?.of !== own) used = { of: own, key: this.#trackKey(own, track) };
      return used.key;
    });
  }

  close(): void {
    this.#cancelWait?.();
    this.#cancelSwitch();
  }

  #begin(): void {
    const { clock, onNew } = this.#options;
    const next = this.#make(this.#current.number + 1);
    this.#cancelWait = null;
    this.#rotatedAt = clock.now();
    this.#next = next;
    this.#cancelSwitch = clock.after(SWITCH_MS, () => {
      this.#current = next;
      this.#next = null;
    });
    onNew(next);
  }

  #make(number: number): OwnKey {
    return { number, bytes: new Uint8Array(this.#options.random.bytes(KEY_BYTES)) };
  }

  async #trackKey({ number, bytes }: OwnKey, track: string): Promise<SFrameKey> {
    const { subtle, room, broadcast } = this.#options;
    const base = await trackBaseKey(subtle, bytes, room, `${broadcast}/${track}`);
    return sframeKey(subtle, base, number);
  }
}
