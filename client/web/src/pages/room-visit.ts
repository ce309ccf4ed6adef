/** One visit to a room's page as a state machine: preview, call, ending. The page renders its state. */
import type { EndReason } from '@parley/sdk/call';
import { effect, signal } from '@preact/signals';
import type { CallSession } from '../call/session.ts';
import { ENDINGS } from '../text/endings.ts';
import { browserDevices } from '../media/devices.ts';
import { LocalMedia } from '../media/local-media.ts';
import { setOwnerKey } from '../memory/owner-key.ts';
import { rememberedName } from '../memory/profile.ts';
import { claimTab, lastChoice, leaveToNextTab, rememberChoice, type JoinChoice } from '../memory/tab.ts';

/** The call and the SDK load while the preview is shown. */
export const loadCall = () => import('../call/entry.tsx');
type CallCode = Awaited<ReturnType<typeof loadCall>>;

export type VisitState =
  | { readonly at: 'loading' }
  | { readonly at: 'prejoin'; readonly media: LocalMedia }
  | { readonly at: 'call'; readonly session: CallSession; readonly page: CallCode['CallPage'] }
  | { readonly at: 'ended'; readonly reason: EndReason; readonly retryAfterMs: number | null };

/** After these reasons the user returns through the preview, not directly into the call. */
const PREVIEW_FIRST: ReadonlySet<EndReason> = new Set(['left', 'NAME_INVALID', 'KICKED', 'CALL_ENDED']);
const LISTEN: JoinChoice = { microphone: false, camera: false };

export class RoomVisit {
  readonly state = signal<VisitState>({ at: 'loading' });
  readonly room: string;
  tries = 0;
  #media: LocalMedia | null = null;
  #choice: JoinChoice | undefined;
  #session: CallSession | null = null;
  #stopWatching: (() => void) | null = null;
  #closed = false;
  readonly #onUnload = (): void => leaveToNextTab(this.room);

  constructor(room: string) {
    this.room = room;
    addEventListener('pagehide', this.#onUnload);
  }

  /** Returns directly to the call after a reload, otherwise to the preview. */
  async open(): Promise<void> {
    await claimTab(this.room);
    if (this.#closed) return;
    const before = lastChoice(this.room);
    if (before && rememberedName() !== '') await this.join(before);
    else this.preview();
  }

  preview(): void {
    const media = this.#openMedia();
    this.state.value = { at: 'prejoin', media };
    void media.begin();
  }

  async join(choice: JoinChoice): Promise<void> {
    this.#choice = choice;
    const media = this.#openMedia();
    await prepare(media, choice);
    let code: CallCode;
    try {
      code = await loadCall();
    } catch {
      // The code of the page cannot be loaded: for the user the same as a service that does not answer.
      this.end('unreachable', null);
      return;
    }
    if (this.#closed) return;
    rememberChoice(this.room, choice);
    const session = code.startSession({ room: this.room, name: rememberedName() || 'Guest', media });
    this.#session = session;
    this.state.value = { at: 'call', session, page: code.CallPage };
    this.#stopWatching = effect(() => this.#follow(session));
  }

  async again(by: 'user' | 'timer'): Promise<void> {
    const state = this.state.value;
    if (state.at !== 'ended') return;
    this.tries = by === 'timer' ? this.tries + 1 : 0;
    if (state.reason === 'OWNER_KEY_INVALID') setOwnerKey(this.room, null);
    if (PREVIEW_FIRST.has(state.reason) || !this.#choice) this.preview();
    else await this.join(this.#choice);
  }

  end(reason: EndReason, retryAfterMs: number | null): void {
    this.#stopSession();
    // A user who only waits keeps the devices open; for all others the camera is switched off.
    if (!ENDINGS[reason].auto) this.#closeMedia();
    // A retry returns as the user was last, not as they joined.
    this.#choice = lastChoice(this.room) ?? this.#choice;
    rememberChoice(this.room, null);
    this.state.value = { at: 'ended', reason, retryAfterMs };
  }

  /** The user opened another page of the application, which leaves the call. */
  close(): void {
    this.#closed = true;
    removeEventListener('pagehide', this.#onUnload);
    this.#session?.leave();
    this.#stopSession();
    this.#closeMedia();
    rememberChoice(this.room, null);
  }

  #follow(session: CallSession): void {
    const { connection } = session.snapshot.value;
    if (connection.status === 'connected') this.tries = 0;
    if (connection.status !== 'ended') return;
    const { reason, retryAfterMs } = connection;
    // Outside the effect: ending it from inside would dispose of the running effect.
    queueMicrotask(() => {
      if (this.#session === session) this.end(reason, retryAfterMs);
    });
  }

  #stopSession(): void {
    this.#stopWatching?.();
    this.#stopWatching = null;
    this.#session?.close();
    this.#session = null;
  }

  #openMedia(): LocalMedia {
    this.#media ??= new LocalMedia(browserDevices());
    return this.#media;
  }

  #closeMedia(): void {
    this.#media?.close();
    this.#media = null;
  }
}

/** Opens the selected devices; the user joins without those that cannot be opened. */
async function prepare(media: LocalMedia, choice: JoinChoice = LISTEN): Promise<void> {
  if (!choice.camera) media.turnOff('camera');
  else if (media.camera.value.status === 'off') await media.turnOn('camera');
  if (!choice.microphone) media.turnOff('microphone');
  else if (media.microphone.value.status === 'off') await media.turnOn('microphone');
  if (choice.muted) media.muted.value = true;
}
