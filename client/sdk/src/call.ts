/**
 * The interface of a call: one snapshot that changes, and the actions of a participant. Nothing here uses the DOM; media and sockets are ports
 * (`ports.ts`).
 */
import type { Code } from '@parley/protocol/codes';
import type { RoomView } from '@parley/protocol/http';
import type { ParticipantId } from '@parley/protocol/ids';
import type { Media, Presence, Waiting } from '@parley/protocol/people';
import type { TrackFigures } from './measure/figures.ts';
import type { Data } from './data/data.ts';
import type { SecurityCode } from './ports.ts';
import type { Moderation } from './room/moderation.ts';

export type { Data } from './data/data.ts';
export type { SecurityCode } from './ports.ts';

/** The state of the connection to the room. From the loss of a socket to the resume there is only one state, `recovering`. */
export type CallConnection =
  | { readonly status: 'joining' }
  /** Many people are arriving at once: the service keeps the place of this one, whose turn comes at about `turnAtMs` (Unix time). */
  | { readonly status: 'arriving'; readonly turnAtMs: number }
  /** The room has a lobby, and its owner was notified. `offline`: the socket was lost. The state has no time limit; after the loss of a socket the client waits again. */
  | { readonly status: 'lobby-waiting'; readonly offline: boolean }
  /** `pod`: the name of the server, for reports of errors. */
  | { readonly status: 'connected'; readonly pod: string }
  /**
   * `sinceMs`: when the socket was lost (Unix time). `offline`: the device believes that it has no network. `turnAtMs`: as in
   * `arriving`; `null` where the service did not announce a wait. `movingTo`: the name of another region, where the call goes on as
   * its own does not answer; otherwise `null`.
   */
  | {
      readonly status: 'recovering';
      readonly sinceMs: number;
      readonly offline: boolean;
      readonly turnAtMs: number | null;
      readonly movingTo: string | null;
    }
  /** Final. `retry` says whether joining again may succeed; `retryAfterMs` after how many ms, `null` if the service does not say. */
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
      /** Through relays, and until it is known, `null`. */
      readonly roundTripMs: number | null;
      /** Of packets since the reading before, some seconds ago: the higher of the two directions, 0 to 100. `null` as for `roundTripMs`. */
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

/**
 * `good`: up to 300 ms of round trip and 2 % of loss. `fair`: up to 800 ms and 8 %. `unknown`: nothing was measured yet. Through relays the delay of
 * playback decides: less than 200 ms is good, less than 350 ms fair.
 */
export type LinkQuality = 'good' | 'fair' | 'poor' | 'unknown';

/** Another participant. The object stays the same until something about that participant changes. */
export interface Person {
  readonly participant: ParticipantId;
  readonly name: string;
  readonly presence: Presence;
  readonly media: Media;
  /** The participant joined with the owner key of the room, or is a co-owner. */
  readonly owner: boolean;
  /** An owner for as long as it is in the call, made so by one with the owner key. */
  readonly coOwner: boolean;
  /** An owner muted the participant: its sound is not played here, and `media.audio` is `false`. */
  readonly muted: boolean;
  readonly link: Link;
  /** Camera and microphone. The object stays the same while the participant is present, so that an element can keep it. */
  readonly stream: MediaStream | null;
  /** The shared screen with its audio; `null` while the participant shares none. */
  readonly screen: MediaStream | null;
  /** The audio is part of the `mix` of the call. An application that plays the mix must not play the audio of these streams too. */
  readonly mixed: boolean;
  /** The camera is not fetched for now, because this browser or its network cannot receive all of them; voices go first. Only through relays. */
  readonly videoPaused: boolean;
  /** Loudness of the last 200 ms, 0 to 1. */
  readonly level: number;
}

/** A participant reacted in the last 5 s. */
export interface Reaction {
  /** Different for each reaction in this call; a later one has a higher id. */
  readonly id: number;
  /** Of another participant, or our own id. */
  readonly from: ParticipantId;
  readonly emoji: string;
}

/** What a `Person` has besides its entry in the roster. */
export type PersonMedia = Pick<Person, 'link' | 'stream' | 'screen' | 'mixed' | 'videoPaused' | 'level'>;

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

/** The figures of the media with one participant. */
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
    /** `null`: unknown. */
    readonly roundTripMs: number | null;
    /** Loss among all packets that this client sent on the connection, 0 to 100; `null`: unknown. */
    readonly lossPercent: number | null;
    /** What is sent once for all participants. */
    readonly sent: readonly TrackFigures[];
  } | null;
}

/** One line of the chat. */
export interface ChatEntry {
  /** Chosen by the sender; the same in all snapshots. */
  readonly id: string;
  readonly from: ParticipantId;
  readonly name: string;
  readonly text: string;
  /** Unix time in ms: of this device while the line is `sending`, then of the service. */
  readonly at: number;
  readonly mine: boolean;
  /** `acknowledged`: the service acknowledged the line, and participants who resume receive it. `refused`: the service did not take it. */
  readonly status: 'sending' | 'acknowledged' | 'refused';
  /** The proof of the pod that acknowledged the line; present once the status is `acknowledged`. */
  readonly proof?: string;
}

/** The state of a call at one moment; immutable. */
export interface CallSnapshot {
  readonly connection: CallConnection;
  readonly room: string;
  /** Whether the room is locked and has a lobby, and its capacity; `null` before the welcome. */
  readonly view: RoomView | null;
  /**
   * This participant. `participant`: `null` before the first welcome. `owner` and `coOwner`: as of a `Person`. `muted`: an owner muted it; no
   * microphone is sent, and once the mute is lifted, none until `setMicrophone` is called again.
   */
  readonly me: {
    readonly participant: ParticipantId | null;
    readonly name: string;
    readonly media: Media;
    readonly owner: boolean;
    readonly coOwner: boolean;
    readonly muted: boolean;
  };
  /** Owners muted everyone but themselves, also those who join later. Single participants may be excepted. */
  readonly allMuted: boolean;
  readonly path: CallPath;
  /**
   * The audio of all microphones and screens that comes through relays, in one stream, because browsers play few streams at once: Chromium 50 in
   * all tabs. `mixed` says for each participant whether the mix contains its audio. The object stays the same while relays are used; `null` before.
   */
  readonly mix: MediaStream | null;
  /** All other participants, in the order in which they joined. */
  readonly people: readonly Person[];
  /** The participants with a raised hand, this one included, in the order in which they raised it: the same for all clients (SPEC rule HAND-2). */
  readonly hands: readonly ParticipantId[];
  /** Of the last 5 s, the oldest first; at most 50. */
  readonly reactions: readonly Reaction[];
  /** The newcomers in the lobby; only owners receive them. */
  readonly lobby: readonly Waiting[];
  /** How often the owner asked this participant to mute: a higher number is a new request. */
  readonly muteRequests: number;
  /** The last 500 lines, the oldest first. */
  readonly chat: readonly ChatEntry[];
}

/** How to send data. What is absent has a default. */
export interface SendOptions {
  /** A participant; without it, all others that are here. */
  readonly to?: ParticipantId;
  /** `true`: in the order of the calls, as long as it takes the same way. `false`: without order, and not again where it is lost, as for positions that are soon outdated. Default: `true`. */
  readonly reliable?: boolean;
}

/** Called with what a participant sent. */
export type DataListener = (from: ParticipantId, data: Data) => void;

/** A call that was joined. Refusals and its end are states of the snapshot: no method throws because of them. */
export interface Call {
  /** The same object until something changes, and then a new one. */
  snapshot(): CallSnapshot;
  /** The listener is called after every change of the snapshot; the returned function ends the subscription. */
  subscribe(listener: () => void): () => void;
  /** A live track, or `null` to send none (muted, camera off). The roster of all participants changes with it. The caller owns and stops tracks. While an owner mutes this participant, nothing is sent. */
  setMicrophone(track: MediaStreamTrack | null): void;
  /** As `setMicrophone`. */
  setCamera(track: MediaStreamTrack | null): void;
  /** A stream with the picture of a screen and, if it is shared, its audio; `null` to send none. The caller owns and stops it. */
  setScreen(stream: MediaStream | null): void;
  /** Sets the end-to-end key, as `CallOptions.mediaKey`. Participants without it cannot play our media that goes through relays. */
  setMediaKey(key: string): void;
  /**
   * What participants compare, by voice or on another way, to know that no other has their keys: equal for all who see the same `participants`. `null`
   * where media goes through relays without an end-to-end key, and where some goes through relays and some from peer to peer; through relays also for a
   * second or more after one left or reloaded. SPEC rules MEDIA-27, MEDIA-30.
   */
  securityCode(): Promise<SecurityCode | null>;
  /** The size in which a participant's camera is shown, in pixels of the screen; `null`: not shown. Through relays only shown cameras are fetched. */
  showCamera(
    participant: ParticipantId,
    size: { readonly width: number; readonly height: number } | null,
  ): void;
  /** How loud a participant is in `mix`, 0 to 1, initially 1; a value outside is the nearest, one that is no number changes nothing. What is not in it is as loud as the elements of the application play it. */
  setVolume(participant: ParticipantId, volume: number): void;
  /**
   * What is sent and received, track by track. Each call begins the interval of the next one: an application calls it in one place. Rejects if the
   * browser fails to count.
   */
  measure(): Promise<CallFigures>;
  /** Changes the name that all participants see. A name that is empty, longer than `name.chars` or has control characters changes nothing. */
  rename(name: string): void;
  /**
   * `false`, and nothing is sent: the text is empty or longer than `chat.chars`, 50 lines wait for an acknowledgement, the call has ended or was not
   * welcomed yet.
   */
  sendChat(text: string): boolean;
  /**
   * Raises the hand, after all that are up, or lowers it. It stays as it is over lost connections and, with `CallOptions.memory`, over a reload. Without an
   * effect if it is so already, if the call has ended, and for a hand that is raised before the first welcome.
   */
  setHand(raised: boolean): void;
  /**
   * Shows one of `REACTIONS` to all for 5 s; reactions are not stored. `false`, and nothing is sent: it is none of them, or there is no connection. The
   * service drops reactions over the rate of chat lines (`TOO_MANY_CHAT_LINES`).
   */
  react(emoji: string): boolean;
  /**
   * Sends data of the application to one participant or, without `to`, to each that is here: over a data channel where media of the two goes from
   * peer to peer, otherwise through the service, encrypted if there is an end-to-end key. At most 16 KiB (text in UTF-8): rejects with a `RangeError`,
   * and with another error where its part of the application does not load.
   * Resolves to those to whom it was sent: not to one who is away or a mebibyte behind, and through the service at most 20 messages and 64 KiB a
   * second. What is on its way when a connection breaks, or when media moves to relays, may be lost.
   */
  send(data: Data, options?: SendOptions): Promise<readonly ParticipantId[]>;
  /** The listener receives what others send with `send`, from now on; the returned function ends that. */
  onData(listener: DataListener): () => void;
  /** `null` without an owner key, unless this participant is a co-owner. `me.owner` and the answers say whether the key is that of the room. */
  readonly moderation: Moderation | null;
  /** Leaves the room; the other participants are notified at once. */
  leave(): void;
}

/** How to join. What may be absent has a default. */
export interface CallOptions {
  /** Origin of the API, for example `https://parley.example`. A page passes its own origin. */
  readonly api: string;
  /** The id of the room: `parseRoomId` reads one, and a wrong one ends the call with a code. */
  readonly room: string;
  /** The name that all participants see; up to `name.chars` characters. */
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
  /**
   * `traceparent` (W3C Trace Context) of a span that the page records, under which the service records the join. Without it the join has a trace of its
   * own. An origin other than that of `api` has to be allowed to send it.
   */
  readonly traceparent?: string;
  /** As `Call.setMicrophone`. */
  readonly microphone: MediaStreamTrack | null;
  /** As `Call.setCamera`. */
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
  /**
   * `false`: sends no report of how media arrives, also if the service asks this participant for them (SPEC rule QUAL-1), and measures nothing for
   * them. Default: `true`. What a report says: `services/protocol/SPEC.md`, QUAL-2 and QUAL-3.
   */
  readonly reports?: boolean;
  /** For tests and for users behind strict firewalls: `relay` uses only TURN. */
  readonly iceTransportPolicy?: RTCIceTransportPolicy;
}

/** Stores a few hundred bytes for each room beyond a reload, for example in sessionStorage. */
export interface CallMemory {
  /** What was written last; `null`: nothing. It may throw, which counts as `null`. */
  read(): string | null;
  /** `null` deletes. It may throw, for example if the storage is full: then a reload is a new participant. */
  write(value: string | null): void;
}
