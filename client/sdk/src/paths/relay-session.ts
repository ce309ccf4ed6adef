/** The room through relays for as long as some participant needs it: its code is loaded, entered, kept a little longer, and left. */
import type { Clock, RelayedMedia, RelayedRoom } from '../ports.ts';

export interface RelaySessionOptions {
  readonly clock: Clock;
  /** `null` where this browser cannot use relays. */
  readonly load: (() => Promise<RelayedMedia>) | null;
  readonly enter: (media: RelayedMedia) => RelayedRoom;
  /** The room was entered, or could not be. */
  readonly onLoaded: () => void;
}

type State =
  | { readonly at: 'none' }
  | { readonly at: 'loading' }
  | { readonly at: 'here'; readonly room: RelayedRoom }
  /** The part of the application did not load, or the browser had no audio context left: it is retried, and the mesh carries the media until then. */
  | { readonly at: 'failed'; readonly againAt: number };

/** The connection to the relay stays a little: others may need it for a moment. */
const LINGER_MS = 4000;
/** A part that did not load is loaded again after this time. */
const LOAD_AGAIN_MS = 5000;

export class RelaySession {
  readonly #options: RelaySessionOptions;
  #state: State = { at: 'none' };
  #neededAt = 0;
  #wasOpen = false;

  constructor(options: RelaySessionOptions) {
    this.#options = options;
  }

  get room(): RelayedRoom | null {
    return this.#state.at === 'here' ? this.#state.room : null;
  }

  get isIdle(): boolean {
    return this.#state.at === 'none';
  }

  get hasFailed(): boolean {
    return this.#state.at === 'failed';
  }

  /** This browser can use relays, and the region has one as far as is known. */
  get able(): boolean {
    return this.#options.load !== null && !this.hasFailed && this.room?.state !== 'none';
  }

  /** Whether it was connected to a relay before. */
  get wasOpen(): boolean {
    return this.#wasOpen;
  }

  /** `needed`: the media of some participant must use relays. `missed`: it would if it could. Afterwards `room` is the current room. */
  follow({ needed, missed }: { readonly needed: boolean; readonly missed: boolean }): void {
    const now = this.#options.clock.now();
    if (needed) this.#neededAt = now;
    this.#wasOpen ||= this.room?.state === 'open';
    const state = this.#state;
    if (needed && state.at === 'none') void this.#load({ at: 'loading' });
    // For the other participants a session that retries counts as failed until it succeeds.
    if (missed && state.at === 'failed' && now >= state.againAt)
      void this.#load({ at: 'failed', againAt: Number.POSITIVE_INFINITY });
    if (this.room !== null && !needed && now - this.#neededAt > LINGER_MS) this.end();
  }

  /** After a failure: the next use loads it at once. */
  forgetFailure(): void {
    if (this.hasFailed) this.#state = { at: 'none' };
  }

  end(): void {
    this.room?.close();
    this.#state = { at: 'none' };
  }

  close(): void {
    this.end();
    this.#wasOpen = false;
  }

  async #load(meanwhile: State): Promise<void> {
    const { clock, load, enter, onLoaded } = this.#options;
    this.#state = meanwhile;
    const loaded = await load?.().catch(() => null);
    // The session ended in the meantime.
    if (this.#state !== meanwhile) return;
    const failed: State = { at: 'failed', againAt: clock.now() + LOAD_AGAIN_MS };
    try {
      this.#state = loaded ? { at: 'here', room: enter(loaded) } : failed;
    } catch {
      // The browser has no audio context left.
      this.#state = failed;
    }
    onLoaded();
  }
}
