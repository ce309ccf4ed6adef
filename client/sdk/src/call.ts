/**
 * The interface of a call: one snapshot that changes, and the actions of a participant. Nothing here uses the DOM; media and sockets are ports
 * (`ports.ts`).
 */
import type { Code } from '@parley/protocol/codes';
import type { RoomView } from '@parley/protocol/http';
import type { ParticipantId } from '@parley/protocol/ids';
import type { Media, Presence, Waiting } from '@parley/protocol/people';
import type { TrackFigures } from './measure/figures.ts';
import type { Moderation } from './room/moderation.ts';

/** The state of the connection to the room. From the loss of a socket to the resume there is only one state, `recovering`. */
export type CallConnection =
  | { readonly status: 'joining' }
  /** Many people are arriving at once: the service keeps the place of this one, whose turn comes at about `turnAtMs` (Unix time). */
  | { readonly status: 'arriving'; readonly turnAtMs: number }
  /** The room has a lobby, and its owner was notified. The state has no time limit; after the loss of a socket the client waits again. */
  | { readonly status: 'lobby-waiting'; readonly offline: boolean }
  | { readonly status: 'connected'; readonly pod: string }
  /**
   * `turnAtMs`: as in `arriving`; `null` where the service did not announce a wait. `movingTo`: the name of another region, where the call goes on as
   * its own does not answer; otherwise `null`.
   */
  | {
      readonly status: 'recovering';
      readonly sinceMs: number;
      readonly offline: boolean;
      readonly turnAtMs: number | null;
      readonly movingTo: string | null;
    }
  /** Final. `retry` says whether joining again may succeed; `retryAfterMs` when. */
  | {
      readonly status: 'ended';
      readonly reason: EndReason;
      readonly retry: boolean;
      readonly retryAfterMs: number | null;
    };

/** `left`: the participant left. `unreachable`: the service did not answer. Otherwise the code that the service sent. */
export type EndReason = 'left' | 'unreachable' | Code;

/** The state of the media with one participant. */
export type Link =
  | { readonly status: 'connecting' }
  | {
      readonly status: 'connected';
      /**
       * `turn`: a TURN server forwards the media and cannot read it. `sfu`: a media relay does, and can read it unless it is encrypted end to end.
       */
      readonly path: 'direct' | 'turn' | 'sfu';
      readonly quality: LinkQuality;
      readonly roundTripMs: number | null;
      readonly lossPercent: number | null;
    }
  | { readonly status: 'recovering' }
  | { readonly status: 'failed' }
  /**
   * The media should come through relays and does not, as where the relays of two regions do not reach each other, and too many participants are
   * concerned for links to all of them.
   */
  | { readonly status: 'no-media' }
  /** The media comes through relays, and is encrypted with another key than ours, or only one of the two sides encrypts. */
  | { readonly status: 'other-key' };
export type LinkQuality = 'good' | 'fair' | 'poor' | 'unknown';

export interface Person {
  readonly participant: ParticipantId;
  readonly name: string;
  readonly presence: Presence;
  readonly media: Media;
  /** The participant joined with the owner key of the room. */
  readonly owner: boolean;
  readonly link: Link;
  /** Camera and microphone. The object stays the same while the participant is present, so that an element can keep it. */
  readonly stream: MediaStream | null;
  readonly screen: MediaStream | null;
  /** The audio is part of the `mix` of the call. An application that plays the mix must not play the audio of these streams too. */
  readonly mixed: boolean;
  /** Loudness of the last 200 ms, 0 to 1. */
  readonly level: number;
}

export type PersonMedia = Pick<Person, 'link' | 'stream' | 'screen' | 'mixed' | 'level'>;

/**
 * The path of the media of the room, and the reason: too many participants for a mesh, a participant who cannot be reached directly, or one who asks for relays,
 * as terminals do: one copy of our media goes through a relay then, also where all others get it directly. A room that
 * is too large for the mesh stays in it if there is no relay, if this browser has no codecs, or if the part of the application for relays did not
 * load. Loading is retried, but many browsers remember a failed module until a reload.
 */
export type CallPath =
  | { readonly kind: 'mesh'; readonly reason: 'no-relay' | 'no-codecs' | 'not-loaded' | null }
  | {
      readonly kind: 'sfu';
      readonly reason: 'people' | 'unreachable' | 'requested';
      /** Encrypted with the end-to-end key of the link: relays cannot read the media. */
      readonly encrypted: boolean;
    };

export interface PersonFigures {
  readonly participant: ParticipantId;
  readonly received: readonly TrackFigures[];
  /** What is sent to this participant alone. Media through relays is sent once for all participants. */
  readonly sent: readonly TrackFigures[];
}

/** Rates and shares of tracks cover the time since the previous call of `measure`. */
export interface CallFigures {
  readonly people: readonly PersonFigures[];
  /** The connection to the media relay; `null` without one. */
  readonly relay: {
    readonly transport: 'WebTransport' | 'WebSocket';
    readonly roundTripMs: number | null;
    /** Loss among all packets that this client sent on the connection. */
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
  /** `acknowledged`: the service acknowledged the line, and participants who resume receive it. */
  readonly status: 'sending' | 'acknowledged' | 'refused';
  /** The proof of the pod that acknowledged the line; present once the status is `acknowledged`. */
  readonly proof?: string;
}

export interface CallSnapshot {
  readonly connection: CallConnection;
  readonly room: string;
  /** Whether the room is locked and has a lobby, and its capacity; `null` before the welcome. */
  readonly view: RoomView | null;
  readonly me: {
    readonly participant: ParticipantId | null;
    readonly name: string;
    readonly media: Media;
    readonly owner: boolean;
  };
  readonly path: CallPath;
  /**
   * The audio of all microphones and screens that comes through relays, in one stream, because browsers play few streams at once: Chromium 50 in
   * all tabs. `mixed` says for each participant whether the mix contains its audio. The object stays the same while relays are used; `null` before.
   */
  readonly mix: MediaStream | null;
  /** All other participants, in the order in which they joined. */
  readonly people: readonly Person[];
  /** The newcomers in the lobby; only owners receive them. */
  readonly lobby: readonly Waiting[];
  /** How often the owner asked this participant to mute: a higher number is a new request. */
  readonly muteRequests: number;
  readonly chat: readonly ChatEntry[];
}

export interface Call {
  snapshot(): CallSnapshot;
  /** The listener is called after every change of the snapshot; the returned function ends the subscription. */
  subscribe(listener: () => void): () => void;
  /** A live track, or `null` to send none (muted, camera off). The roster of all participants changes with it. The caller owns and stops tracks. */
  setMicrophone(track: MediaStreamTrack | null): void;
  setCamera(track: MediaStreamTrack | null): void;
  setScreen(stream: MediaStream | null): void;
  /** Sets the end-to-end key, as `CallOptions.mediaKey`. Participants without it cannot play our media that goes through relays. */
  setMediaKey(key: string): void;
  /** The size in which a participant's camera is shown, in pixels of the screen; `null`: not shown. Through relays only shown cameras are fetched. */
  showCamera(
    participant: ParticipantId,
    size: { readonly width: number; readonly height: number } | null,
  ): void;
  measure(): Promise<CallFigures>;
  rename(name: string): void;
  /** `false` if the text is empty or longer than `chat.chars`. */
  sendChat(text: string): boolean;
  /** `null` without an owner key. `me.owner` and the answers say whether the key is that of the room. */
  readonly moderation: Moderation | null;
  /** Leaves the room; the other participants are notified at once. */
  leave(): void;
}

export interface CallOptions {
  /** Origin of the API, for example `https://parley.example`. A page passes its own origin. */
  readonly api: string;
  readonly room: string;
  readonly name: string;
  /** 16 to 64 random letters, digits, `-` and `_` that the application stores. A ban matches them, besides the network address. */
  readonly device?: string;
  /** The owner key of the room: the participant joins as its owner. */
  readonly ownerKey?: string;
  /**
   * The end-to-end key of media that goes through relays: 16 bytes in base64url, which all participants have from the fragment of the link. Without
   * it relays can read the media.
   */
  readonly mediaKey?: string;
  readonly microphone: MediaStreamTrack | null;
  readonly camera: MediaStreamTrack | null;
  /** State of an earlier visit in the same tab, so that a reload is the same participant. */
  readonly memory?: CallMemory;
  /**
   * The regions of the installation, for all rooms and visits, for example in localStorage. Without it the first answer of each call names them, and
   * a call that begins while the region of `api` does not answer cannot use another one.
   */
  readonly regionMemory?: CallMemory;
  /** Uses the region of this name, if the installation has it and it answers, instead of the nearest. */
  readonly region?: string;
  /** For tests and for users behind strict firewalls: `relay` uses only TURN. */
  readonly iceTransportPolicy?: RTCIceTransportPolicy;
}

/** Stores a few hundred bytes for each room beyond a reload, for example in sessionStorage. */
export interface CallMemory {
  read(): string | null;
  write(value: string | null): void;
}
