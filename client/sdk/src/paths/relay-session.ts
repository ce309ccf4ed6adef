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
  /** The part of the application did not load, or there was no more audio context for it: tried again, and until then the mesh has to do. */
  | { readonly at: 'failed'; readonly againAt: number };

/** The connection to the relay stays a little: others may need it for a moment. */
const LINGER_MS = 4000;
/** What did not load is asked for again after this long. */
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

  /** It was connected to a relay once. */
  get wasOpen(): boolean {
    return this.#wasOpen;
  }

  /** `needed`: some participant's media is to go through relays. `missed`: or would, if it could. Afterwards `room` is the one to use. */
  follow({ needed, missed }: { readonly needed: boolean; readonly missed: boolean }): void {
    const now = this.#options.clock.now();
    if (needed) this.#neededAt = now;
    this.#wasOpen ||= this.room?.state === 'open';
    const state = this.#state;
    if (needed && state.at === 'none') void this.#load({ at: 'loading' });
    // A session that tries again has still failed, for the other participants, until it succeeds.
    if (missed && state.at === 'failed' && now >= state.againAt)
      void this.#load({ at: 'failed', againAt: Number.POSITIVE_INFINITY });
    if (this.room !== null && !needed && now - this.#neededAt > LINGER_MS) this.end();
  }

  /** After a failure: the next time it is needed it is loaded at once. */
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
    // It was ended in the meantime.
    if (this.#state !== meanwhile) return;
    const failed: State = { at: 'failed', againAt: clock.now() + LOAD_AGAIN_MS };
    try {
      this.#state = loaded ? { at: 'here', room: enter(loaded) } : failed;
    } catch {
      // A browser that makes no more sound, as it has too many contexts.
      this.#state = failed;
    }
    onLoaded();
  }
}
