/** The state of the call's page: the snapshot of the SDK as a signal, the open panel and dialog, unread lines and notices. */
import type { ParticipantId } from '@parley/protocol/ids';
import type { Call, CallFigures, CallSnapshot, SecurityCode } from '@parley/sdk/call';
import { computed, effect, signal, untracked, type Signal } from '@preact/signals';
import { mediaProblemText } from '../text/media-problems.ts';
import { problemOf } from '../media/devices.ts';
import { watchLevel } from '../media/level.ts';
import { isWanted, type Kind, type LocalMedia } from '../media/local-media.ts';
import { setOwnerKey, takeOwnerless } from '../memory/owner-key.ts';
import { rememberName } from '../memory/profile.ts';
import { joinedLate } from '../memory/joined-late.ts';
import { rememberChoice } from '../memory/tab.ts';
import { browserAlerts } from './alerts.ts';
import type { CallFiles } from './files/call-files.ts';
import { keyFragment, mediaKeyIn, newMediaKey } from './media-key.ts';
import { MutedSpeech } from './muted-speech.ts';
import { newsBetween } from './news.ts';
import { Notices } from './notices.ts';
import { OwnerCommands } from './owner/owner-commands.ts';
import { Speakers } from './speakers.ts';
import { StageView } from './stage-view.ts';
import { Volumes } from './volumes.ts';

export type Panel = 'none' | 'chat' | 'people';
export type OpenDialog =
  | { readonly kind: 'settings' | 'shortcuts' | 'share' | 'statistics' | 'path' | 'end-call' }
  | { readonly kind: 'link'; readonly participant: ParticipantId }
  | { readonly kind: 'ban'; readonly participant: ParticipantId; readonly name: string };

const MUTED = 'An owner muted you. You can switch your microphone on when they let you speak.';
const OWNERLESS =
  'The service could not make you the owner of this room: no one can mute, remove or lock out others here.';
const KEY_REFUSED = 'The owner key in this browser is no longer valid for this room. You join as a guest.';

export class CallSession {
  readonly snapshot: Signal<CallSnapshot>;
  readonly panel = signal<Panel>('none');
  readonly dialog = signal<OpenDialog | null>(null);
  readonly screen = signal<MediaStream | null>(null);
  /** The reactions to choose from are open. */
  readonly reacting = signal(false);
  /** Others were in the room before this participant: it does not get what they wrote. */
  readonly joinedLate = signal(false);
  readonly soundBlocked = signal(false);
  readonly level = signal(0);
  /** The user speaks while muted. */
  readonly mutedSpeech = signal(false);
  readonly stage = new StageView();
  readonly volumes: Volumes;
  readonly speakers = new Speakers();
  /** The active speaker among the other participants. */
  readonly speaker = signal<ParticipantId | null>(null);
  readonly notices = new Notices();
  /** The last pod that sent a welcome; kept while the call recovers. */
  readonly pod = signal('');
  readonly unread = computed(() => {
    const theirs = this.snapshot.value.chat.filter((entry) => !entry.mine).length;
    return Math.max(0, theirs - this.#read.value);
  });
  /** The owner asked to mute, and the user has neither answered nor muted. */
  readonly muteRequested = signal(false);
  /** The problem of the last failed command in the list of participants. */
  readonly problem = signal<string | null>(null);
  /** The owner key is not, or no longer, that of the room. */
  readonly keyRefused = computed(() => {
    const { connection, me } = this.snapshot.value;
    // Owners do not wait in the lobby.
    const known = connection.status === 'connected' || connection.status === 'lobby-waiting';
    const isOwnerByKey = me.owner && !me.coOwner;
    return this.#hasOwnerKey && known && !isOwnerByKey && !this.#keyForgotten.value;
  });

  /** The end-to-end key in the room's link. */
  readonly mediaKey = signal<string | null>(null);
  /** The files of the chat; `null` until the first one (`files/files-of.ts`). */
  readonly files = signal<CallFiles | null>(null);
  readonly media: LocalMedia;
  readonly #call: Call;
  readonly #alerts = browserAlerts(() => this.media.chosen.speaker.peek());
  readonly #read = signal(0);
  readonly #keyForgotten = signal(false);
  /** Before the welcome the key of this browser alone makes commands of owners. */
  readonly #hasOwnerKey: boolean;
  #ownerCommands: OwnerCommands | null = null;
  readonly #stops: (() => void)[] = [];
  #choosingScreen = false;
  /** The user lowered the hand, and no owner. */
  #lowersHand = false;
  #closed = false;

  constructor(call: Call, media: LocalMedia, mediaKey: string | null = null) {
    this.#call = call;
    this.mediaKey.value = mediaKey;
    this.media = media;
    this.snapshot = signal(call.snapshot());
    this.volumes = new Volumes(call.snapshot().room);
    this.#hasOwnerKey = call.moderation !== null;
    if (takeOwnerless(call.snapshot().room)) this.notices.show(OWNERLESS, 'trouble');
    this.#stops.push(
      call.subscribe(() => this.#onChange(call.snapshot())),
      effect(() => call.setMicrophone(media.sendingMicrophone.value)),
      effect(() => call.setCamera(media.sendingCamera.value)),
      effect(() => this.volumes.all.forEach(([of, volume]) => call.setVolume(of, volume))),
      effect(() => this.#watchOwnLevel(media.sendingMicrophone.value)),
      effect(() => this.#watchMutedSpeech()),
      effect(() => this.#rememberMedia()),
      effect(() => {
        if (media.sendingMicrophone.value === null) this.muteRequested.value = false;
      }),
      effect(() => {
        if (this.snapshot.value.me.muted && media.sendingMicrophone.value !== null) media.muted.value = true;
      }),
      effect(() => {
        if (this.panel.value !== 'people') this.problem.value = null;
      }),
      effect(() => {
        const open = this.dialog.value?.kind;
        if ((open === 'ban' || open === 'end-call') && !this.snapshot.value.me.owner)
          this.dialog.value = null;
      }),
      effect(() => {
        if (!this.keyRefused.value) return;
        untracked(() => this.notices.show(KEY_REFUSED, 'trouble'));
      }),
      effect(() => this.#reportMediaProblem('camera')),
      effect(() => this.#reportMediaProblem('microphone')),
      effect(() => {
        const theirs = this.snapshot.value.chat.filter((entry) => !entry.mine).length;
        if (this.panel.value === 'chat') this.#read.value = theirs;
      }),
    );
    // The user opened a link with a key in this tab.
    const onHash = (): void => {
      const key = mediaKeyIn(location.hash);
      if (key !== null) this.#useMediaKey(key);
    };
    globalThis.addEventListener('hashchange', onHash);
    this.#stops.push(() => globalThis.removeEventListener('hashchange', onHash));
    this.#onChange(call.snapshot());
  }

  /** `null` where this participant is no owner, and has no key of the room. */
  get ownerCommands(): OwnerCommands | null {
    const { moderation } = this.#call;
    if (moderation === null) return null;
    this.#ownerCommands ??= new OwnerCommands(moderation, (problem) => this.#reportProblem(problem));
    return this.#ownerCommands;
  }

  get link(): string {
    return `${location.origin}/r/${this.snapshot.peek().room}${keyFragment(this.mediaKey.value)}`;
  }

  openPanel(panel: Exclude<Panel, 'none'>): void {
    this.panel.value = this.panel.value === panel ? 'none' : panel;
  }

  toggleMicrophone(): void {
    if (this.snapshot.peek().me.muted) {
      this.notices.show(MUTED, 'quiet');
      return;
    }
    void this.media
      .toggleMicrophone()
      .then(() =>
        this.notices.show(this.media.sendingMicrophone.value ? 'Microphone on' : 'Microphone muted', 'quiet'),
      );
  }

  toggleHand(): void {
    const { me } = this.snapshot.peek();
    const raised = me.media.hand !== undefined;
    if (!raised && me.participant === null) return;
    this.#lowersHand = raised;
    this.#call.setHand(!raised);
    this.notices.show(raised ? 'Hand lowered' : 'Hand raised', 'quiet');
  }

  react(emoji: string): void {
    if (!this.#call.react(emoji))
      this.notices.show('The reaction was not sent: you are not connected.', 'trouble');
  }

  /** Unmutes while a user holds a key, and mutes again. `false` if there is nothing to unmute. */
  talk(on: boolean): boolean {
    const { microphone, muted } = this.media;
    if (microphone.peek().status !== 'live' || muted.peek() !== on) return false;
    if (on && this.snapshot.peek().me.muted) return false;
    muted.value = !on;
    return true;
  }

  toggleCamera(): void {
    void this.media
      .toggleCamera()
      .then(() => this.notices.show(this.media.sendingCamera.value ? 'Camera on' : 'Camera off', 'quiet'));
  }

  /** Shares a screen; shows a notice if the device cannot. */
  async toggleScreen(): Promise<void> {
    if (this.screen.value) {
      this.stopScreen();
      return;
    }
    const open = this.media.port.openScreen;
    if (!open) {
      this.notices.show('This device cannot share its screen. Join from a computer to share one.', 'trouble');
      return;
    }
    if (this.#choosingScreen) return;
    this.#choosingScreen = true;
    try {
      const stream = await open();
      // The call ended while the browser asked for the screen: nothing would stop the capture.
      if (this.#closed) {
        for (const track of stream.getTracks()) track.stop();
        return;
      }
      stream.getVideoTracks()[0]?.addEventListener('ended', () => {
        if (this.screen.value === stream) this.stopScreen();
      });
      this.screen.value = stream;
      this.#call.setScreen(stream);
      this.notices.show('You are sharing your screen', 'quiet');
    } catch (error) {
      // Browsers report Cancel as a refusal: no problem to show.
      if (problemOf(error) !== 'refused') this.notices.show('Your screen could not be shared.', 'trouble');
    } finally {
      this.#choosingScreen = false;
    }
  }

  /** Also called when the browser's own control ended the capture. */
  stopScreen(): void {
    const stream = this.screen.value;
    this.screen.value = null;
    this.#call.setScreen(null);
    for (const track of stream?.getTracks() ?? []) track.stop();
    this.notices.show('You stopped sharing your screen', 'quiet');
  }

  /** In CSS pixels; `null`: not shown. */
  showCamera(
    participant: ParticipantId,
    size: { readonly width: number; readonly height: number } | null,
  ): void {
    const scale = devicePixelRatio;
    this.#call.showCamera(participant, size && { width: size.width * scale, height: size.height * scale });
  }

  securityCode(): Promise<SecurityCode | null> {
    return this.#call.securityCode();
  }

  measure(): Promise<CallFigures> {
    return this.#call.measure();
  }

  sendChat(text: string): boolean {
    return this.#call.sendChat(text);
  }

  /** `false` if the name is not valid. */
  rename(name: string): boolean {
    const shown = rememberName(name);
    if (shown === undefined) return false;
    if (shown !== this.snapshot.peek().me.name) this.#call.rename(shown);
    return true;
  }

  answerMute(answer: 'mute' | 'stay'): void {
    this.muteRequested.value = false;
    if (answer === 'mute' && this.media.sendingMicrophone.peek()) this.toggleMicrophone();
  }

  /** The other participants need the new link: those with the old one cannot play our media through relays. */
  makeMediaKey(): void {
    this.#useMediaKey(newMediaKey());
    history.replaceState(history.state, '', keyFragment(this.mediaKey.value));
  }

  forgetKey(): void {
    setOwnerKey(this.snapshot.peek().room, null);
    this.#keyForgotten.value = true;
  }

  get closed(): boolean {
    return this.#closed;
  }

  leave(): void {
    this.#call.leave();
  }

  close(): void {
    this.#closed = true;
    for (const stop of this.#stops) stop();
    for (const track of this.screen.peek()?.getTracks() ?? []) track.stop();
    this.files.peek()?.close();
    this.notices.close();
  }

  #onChange(next: CallSnapshot): void {
    const before = this.snapshot.peek();
    this.speakers.update(
      next.people.filter(({ media, presence }) => media.audio && presence === 'here'),
      performance.now(),
    );
    this.speaker.value = this.speakers.current;
    this.snapshot.value = next;
    if (next.connection.status === 'connected') {
      this.pod.value = next.connection.pod;
      this.joinedLate.value = joinedLate(next);
    }
    if (next.muteRequests > before.muteRequests) this.#onMuteRequest();
    this.#announce(before, next);
  }

  #announce(before: CallSnapshot, next: CallSnapshot): void {
    if (before === next) return;
    const reader = {
      readsChat: untracked(() => this.panel.value) === 'chat',
      isAway: document.hidden,
      lowersHand: this.#lowersHand,
      origin: location.origin,
    };
    for (const { text, notice, alert } of newsBetween(before, next, reader)) {
      if (notice !== undefined) this.notices.show(text, notice);
      if (alert !== undefined) this.#alerts.announce(alert, text, next.people.length + 1);
    }
    if (this.#ownerCommands === null) return;
    const muted = new Set(next.people.filter(({ media }) => !media.audio).map((one) => one.participant));
    for (const { participant, media } of before.people)
      if (media.audio && muted.has(participant)) this.#ownerCommands.clearMuteRequest(participant);
  }

  #onMuteRequest(): void {
    if (untracked(() => this.media.sendingMicrophone.value)) this.muteRequested.value = true;
    else this.notices.show('An owner asked you to mute. You are muted already.', 'quiet');
  }

  #useMediaKey(key: string): void {
    if (key === this.mediaKey.peek()) return;
    this.mediaKey.value = key;
    this.#call.setMediaKey(key);
    this.notices.show('Relays cannot read what you send: the key is in the link', 'quiet');
  }

  /** On a phone the list of participants covers the notices: the problem is shown where the user looks. */
  #reportProblem(text: string): void {
    if (this.panel.peek() === 'people') this.problem.value = text;
    else this.notices.show(text, 'trouble');
  }

  #watchOwnLevel(track: MediaStreamTrack | null): (() => void) | undefined {
    this.level.value = 0;
    if (!track) return undefined;
    return watchLevel(track, (level) => {
      // Only visible changes: an equal number renders nothing.
      this.level.value = Math.round(level * 10) / 10;
    });
  }

  /** A muted microphone is open, and is heard only here. */
  #watchMutedSpeech(): (() => void) | undefined {
    this.mutedSpeech.value = false;
    const source = this.media.microphone.value;
    if (!this.media.muted.value || source.status !== 'live') return undefined;
    const speech = new MutedSpeech();
    return watchLevel(source.track, (level) => {
      this.mutedSpeech.value = speech.hear(level, performance.now());
    });
  }

  /** After a reload the call continues with the current devices. */
  #rememberMedia(): void {
    rememberChoice(
      untracked(() => this.snapshot.value.room),
      {
        microphone: isWanted(this.media.microphone.value),
        muted: this.media.muted.value,
        camera: isWanted(this.media.camera.value),
      },
    );
  }

  #reportMediaProblem(kind: Kind): void {
    const source = this.media[kind].value;
    if (source.status !== 'failed') return;
    const text = mediaProblemText(source.problem, kind);
    untracked(() => this.notices.show(`${text.title}. ${text.advice}`, 'trouble'));
  }
}
