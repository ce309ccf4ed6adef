/**
 * A call as an application sees it: one snapshot that changes, and the things a person can do. Nothing here knows a document; media and
 * sockets come in as ports (`ports.ts`).
 */
import type { Code } from '@parley/protocol/codes';
import type { RoomView } from '@parley/protocol/http';
import type { ParticipantId } from '@parley/protocol/ids';
import type { Media, Presence, Waiting } from '@parley/protocol/people';
import type { TrackFigures } from './measure/figures.ts';
import type { Moderation } from './room/moderation.ts';

/** What the connection to the room is doing. Everything between a lost socket and its return is one calm `recovering`. */
export type CallConnection =
  | { readonly status: 'joining' }
  /** The room has a lobby and its owner was told. Lasts as long as it takes; a lost socket asks again behind it. */
  | { readonly status: 'lobby-waiting'; readonly offline: boolean }
  | { readonly status: 'connected'; readonly pod: string }
  | { readonly status: 'recovering'; readonly sinceMs: number; readonly offline: boolean }
  /** Over for good. `retry` says whether joining again may work; `retryAfterMs` when. */
  | {
      readonly status: 'ended';
      readonly reason: EndReason;
      readonly retry: boolean;
      readonly retryAfterMs: number | null;
    };

/** `left`: the person left. `unreachable`: the service did not answer at all. Otherwise the code the service gave. */
export type EndReason = 'left' | 'unreachable' | Code;

/** How media with one person travels. */
export type Link =
  | { readonly status: 'connecting' }
  | {
      readonly status: 'connected';
      /** `relayed`: a TURN server passes it on and cannot read it; `relay`: a media relay, which can. */
      readonly path: 'direct' | 'turn' | 'sfu';
      readonly quality: LinkQuality;
      readonly roundTripMs: number | null;
      readonly lossPercent: number | null;
    }
  | { readonly status: 'recovering' }
  | { readonly status: 'failed' }
  /** Their media comes through relays, sealed with an end-to-end key that is not ours, or unsealed where we have one. */
  | { readonly status: 'other-key' };
export type LinkQuality = 'good' | 'fair' | 'poor' | 'unknown';

export interface Person {
  readonly participant: ParticipantId;
  readonly name: string;
  readonly presence: Presence;
  readonly media: Media;
  /** Came with the owner key of the room. */
  readonly owner: boolean;
  readonly link: Link;
  /** Camera and microphone; the same object while it lasts, so it can be bound to an element. */
  readonly stream: MediaStream | null;
  readonly screen: MediaStream | null;
  /** Heard in the `mix` of the call: whoever plays that does not play the sound of these streams as well. */
  readonly mixed: boolean;
  /** Loudness of the last fifth of a second, 0 to 1. */
  readonly level: number;
}

export type PersonMedia = Pick<Person, 'link' | 'stream' | 'screen' | 'mixed' | 'level'>;

/**
 * How media of the room goes, and why not from peer to peer: more people than a mesh bears, or somebody who cannot be reached otherwise.
 * A room that is too large for its mesh stays in it where there is no relay, this browser has no codecs, or the part of the application for
 * it did not load: that is tried again, but many browsers remember until a reload that a module did not come.
 */
export type CallPath =
  | { readonly way: 'mesh'; readonly why: 'no-relay' | 'no-codecs' | 'not-loaded' | null }
  | {
      readonly way: 'sfu';
      readonly why: 'people' | 'unreachable';
      /** With the end-to-end key of the link: relays cannot read it. */
      readonly sealed: boolean;
    };

export interface PersonFigures {
  readonly participant: ParticipantId;
  readonly received: readonly TrackFigures[];
  /** To them alone; what goes through relays is sent once, for everybody. */
  readonly sent: readonly TrackFigures[];
}

/** Rates and shares of tracks are of the time since it was asked before. */
export interface CallFigures {
  readonly people: readonly PersonFigures[];
  /** The connection with the media relay; `null` where there is none. */
  readonly relay: {
    readonly transport: 'WebTransport' | 'WebSocket';
    readonly roundTripMs: number | null;
    /** Of all that we sent on it. */
    readonly lossPercent: number | null;
    readonly sent: readonly TrackFigures[];
  } | null;
}

export interface ChatEntry {
  readonly id: string;
  readonly from: ParticipantId;
  readonly name: string;
  readonly text: string;
  /** Unix time in ms. */
  readonly at: number;
  readonly mine: boolean;
  /** `taken`: the service has it and everyone who resumes gets it. */
  readonly status: 'sending' | 'taken' | 'refused';
  /** Of the pod that took it; there once it is `taken`. */
  readonly proof?: string;
}

export interface CallSnapshot {
  readonly connection: CallConnection;
  readonly room: string;
  /** Whether it is locked, has a lobby, how many it takes; `null` before the service said so. */
  readonly view: RoomView | null;
  readonly me: {
    readonly participant: ParticipantId | null;
    readonly name: string;
    readonly media: Media;
    readonly owner: boolean;
  };
  readonly path: CallPath;
  /**
   * All voices and sounds of screens that come through relays just now, in one stream, as browsers play few streams at once: in Chromium 50
   * in all tabs. Whom it carries says `mixed` of each person. The same object while the call goes that way; `null` before.
   */
  readonly mix: MediaStream | null;
  /** Everyone else, in the order they came. */
  readonly people: readonly Person[];
  /** Who waits to be let in; told to owners only. */
  readonly lobby: readonly Waiting[];
  /** How often the owner has asked us to mute: a higher number is a new request. */
  readonly muteRequests: number;
  readonly chat: readonly ChatEntry[];
}

export interface Call {
  snapshot(): CallSnapshot;
  /** Called after every change of the snapshot; the answer ends the subscription. */
  subscribe(listener: () => void): () => void;
  /** A live track, or `null` to send none (muted, camera off). Everyone's roster changes with it. The caller owns and stops tracks. */
  setMicrophone(track: MediaStreamTrack | null): void;
  setCamera(track: MediaStreamTrack | null): void;
  setScreen(stream: MediaStream | null): void;
  /** An end-to-end key from now on, as `CallOptions.mediaKey`. Whoever does not have it neither sees nor hears us through relays. */
  setMediaKey(key: string): void;
  /** How large somebody's camera is shown, in pixels of the screen; `null` where it is not. Through relays only that is fetched. */
  showCamera(
    participant: ParticipantId,
    size: { readonly width: number; readonly height: number } | null,
  ): void;
  measure(): Promise<CallFigures>;
  rename(name: string): void;
  /** `false` where the text is empty or over `chat.chars`. */
  sendChat(text: string): boolean;
  /** `null` without an owner key. Whether the key is the room's is known by `me.owner` and by what the answers say. */
  readonly moderation: Moderation | null;
  /** Leaves for good: everyone is told at once. */
  leave(): void;
}

export interface CallOptions {
  /** Origin of the API, e.g. `https://parley.example`; pages use their own. */
  readonly api: string;
  readonly room: string;
  readonly name: string;
  /** 16 to 64 random letters, digits, `-` and `_` that the application keeps: what a ban recognises besides the network address. */
  readonly device?: string;
  /** Of whoever made the room: joins as its owner. */
  readonly ownerKey?: string;
  /**
   * The end-to-end key of media that goes through relays: 16 bytes in base64url, which everybody has from the fragment of the link.
   * Without it relays can read what they pass on.
   */
  readonly mediaKey?: string;
  readonly microphone: MediaStreamTrack | null;
  readonly camera: MediaStreamTrack | null;
  /** Answers of an earlier visit in the same tab, so that a reload is the same participant. */
  readonly memory?: CallMemory;
  /** For tests and people behind strict firewalls: `relay` uses TURN only. */
  readonly iceTransportPolicy?: RTCIceTransportPolicy;
}

/** A few hundred bytes per room that outlive a reload (sessionStorage in a page). */
export interface CallMemory {
  read(): string | null;
  write(value: string | null): void;
}
