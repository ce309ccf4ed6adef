/** Name, media and raised hand of this participant, sent at each change and with the first message of each socket. */
import { checkName, type Media } from '@parley/protocol/people';
import type { ClientMessage } from '@parley/protocol/client-messages';
import type { Welcome } from '@parley/protocol/server-messages';
import type { LocalMedia } from '../media.ts';

export class LocalState {
  readonly #send: (message: ClientMessage) => void;
  #name: string;
  #tracks: LocalMedia;
  #hand: number;

  /** `hand`: that of before a reload; 0: not raised. */
  constructor(name: string, tracks: LocalMedia, hand: number, send: (message: ClientMessage) => void) {
    this.#name = name;
    this.#tracks = tracks;
    this.#hand = hand;
    this.#send = send;
  }

  get name(): string {
    return this.#name;
  }

  get tracks(): LocalMedia {
    return this.#tracks;
  }

  get media(): Media {
    const { microphone, camera, screen } = this.#tracks;
    const media = { audio: microphone !== null, video: camera !== null, screen: screen !== null };
    return this.#hand > 0 ? { ...media, hand: this.#hand } : media;
  }

  /** Returns whether the roster changes. */
  setTracks(tracks: LocalMedia): boolean {
    const before = this.media;
    this.#tracks = tracks;
    return this.#changed(before);
  }

  /** 0 lowers the hand. Returns whether the roster changes. */
  setHand(hand: number): boolean {
    const before = this.media;
    this.#hand = hand;
    return this.#changed(before);
  }

  /** A hand ends with its participant. SPEC rule HAND-1. */
  forgetHand(): void {
    this.#hand = 0;
  }

  #changed(before: Media): boolean {
    const { media } = this;
    if (sameMedia(media, before)) return false;
    this.#send({ type: 'change', media });
    return true;
  }

  /** Returns whether the name is valid and differs from the previous one. */
  rename(name: string, maxChars: number): boolean {
    const shown = checkName(name, maxChars);
    if (shown === undefined || shown === this.#name) return false;
    this.#name = shown;
    this.#send({ type: 'change', name: shown });
    return true;
  }

  /** The first message may be outdated: a participant in the lobby may have switched the camera meanwhile. */
  correct({ roster, participant }: Welcome): void {
    const listed = roster.find((member) => member.participant === participant);
    if (listed === undefined) return;
    const { media } = this;
    if (listed.name !== this.#name) this.#send({ type: 'change', name: this.#name });
    if (!sameMedia(listed.media, media)) this.#send({ type: 'change', media });
  }
}

const sameMedia = (one: Media, other: Media): boolean =>
  one.audio === other.audio &&
  one.video === other.video &&
  one.screen === other.screen &&
  one.hand === other.hand;
