/** The keys under which this page sends: a new one when a participant has gone who had the last. SPEC rules MEDIA-16, MEDIA-28. */
import type { Clock, Random } from '../../ports.ts';
import { frameSealer, type FrameSealer } from './frame-cipher.ts';
import { trackBaseKey } from './room-secret.ts';
import { KEY_BYTES, type NumberedKey } from './sealed-keys.ts';
import { sframeKey, type SFrameKey } from './sframe.ts';

/** From a new key until frames are encrypted with it: it reaches the others in this time, over oceans and on slow devices too. */
const SWITCH_MS = 1000;
/** The longest wait for participants who are away or cut off, and cannot be given the next key. */
export const LONGEST_MS = 60_000;
/** Where many leave at once, their keys are replaced together. */
const LEAST_MS = 2000;

export interface OwnKeysOptions {
  readonly subtle: SubtleCrypto;
  readonly clock: Clock;
  readonly random: Random;
  readonly room: string;
  /** `{participant}/{instance}`. */
  readonly broadcast: string;
  /** There is a `next`. */
  readonly onNew: () => void;
  /** All who had the last key were given the next one. */
  readonly isGiven: () => boolean;
}

export class OwnKeys {
  readonly #options: OwnKeysOptions;
  #current: NumberedKey;
  #next: NumberedKey | null = null;
  #rotatedAt = Number.NEGATIVE_INFINITY;
  #cancelSwitch: () => void = () => undefined;
  #isClosed = false;
  #cancelWait: (() => void) | null = null;

  constructor(options: OwnKeysOptions) {
    this.#options = options;
    this.#current = this.#make(0);
  }

  /** It is used in a moment. */
  get next(): NumberedKey | null {
    return this.#next;
  }

  /** A key is in use that one has who is gone. */
  get isChanging(): boolean {
    return this.#next !== null || this.#cancelWait !== null;
  }

  /** Those that a participant who comes now needs. */
  get all(): readonly NumberedKey[] {
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
    let used: { readonly of: NumberedKey; readonly key: Promise<SFrameKey> } | null = null;
    return frameSealer(subtle, () => {
      const own = this.#current;
      if (used?.of !== own) used = { of: own, key: this.#trackKey(own, track) };
      return used.key;
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelWait?.();
    this.#cancelSwitch();
  }

  #begin(): void {
    const { clock, onNew } = this.#options;
    this.#cancelWait = null;
    this.#cancelSwitch();
    if (this.#isClosed) return;
    this.#rotatedAt = clock.now();
    // One that was not used yet is not used any more: the one who is gone may have it.
    const next = this.#make((this.#next ?? this.#current).number + 1);
    this.#next = next;
    this.#useSoon(next, clock.now());
    onNew();
  }

  #useSoon(next: NumberedKey, since: number): void {
    const { clock, isGiven } = this.#options;
    this.#cancelSwitch = clock.after(SWITCH_MS, () => {
      if (!isGiven() && clock.now() - since < LONGEST_MS) {
        this.#useSoon(next, since);
        return;
      }
      this.#current = next;
      this.#next = null;
    });
  }

  #make(number: number): NumberedKey {
    return { number, bytes: new Uint8Array(this.#options.random.bytes(KEY_BYTES)) };
  }

  async #trackKey({ number, bytes }: NumberedKey, track: string): Promise<SFrameKey> {
    const { subtle, room, broadcast } = this.#options;
    const base = await trackBaseKey(subtle, bytes, room, `${broadcast}/${track}`);
    return sframeKey(subtle, base, number);
  }
}
