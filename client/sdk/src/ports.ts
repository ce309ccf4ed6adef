/** What the SDK needs from its environment. `browser-ports.ts` builds the ports of a page or worker; tests pass their own. */
import type { RelayOffer } from '@parley/protocol/http';
import type { ParticipantId } from '@parley/protocol/ids';
import type { Count } from './measure/figures.ts';
import type { LocalMedia, Role, Size } from './media.ts';

/** What an environment provides. `browserPorts` makes those of a browser. */
export interface Ports {
  /** Of the page. Only requests to the same origin begin a trace: others would need a header that older services do not allow. */
  readonly origin?: string | undefined;
  /** As `fetch` of a browser: it rejects without an answer. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Opens a WebSocket, whose binary messages are ArrayBuffers. */
  readonly openSocket: (url: string, handlers: WireHandlers) => WireSocket;
  /** As `new RTCPeerConnection`. */
  readonly createConnection: (configuration: RTCConfiguration) => RTCPeerConnection;
  /** That of all connections of a call, so that all participants see the same one of this page (SPEC rule MEDIA-30); none: each makes its own. */
  readonly certificates?: (() => RTCCertificate[]) | undefined;
  /** An empty stream: tracks are added by the SDK. */
  readonly createStream: () => MediaStream;
  readonly clock: Clock;
  readonly random: Random;
  readonly network: Network;
  /** For pages and end-to-end keys. Browsers have it only in secure contexts. */
  readonly subtle: SubtleCrypto;
  /** `null` if the environment cannot compress: payloads are then sent as text. */
  readonly compression: Compression | null;
  /** Loudness of a track if the browser does not report it; `null` without AudioContext. */
  readonly measureLevel: ((track: MediaStreamTrack) => LevelMeter) | null;
  /** Loads the code for rooms that use relays; `null` if the browser has no WebCodecs: the room then stays in the mesh. */
  readonly relayedMedia: (() => Promise<RelayedMedia>) | null;
}

/** Media of a room through relays. It is a port, as its code is loaded only when a room first needs it. */
export interface RelayedMedia {
  /** Throws where the browser makes no more sound, as the page has too many audio contexts. */
  enter(local: LocalMedia, options: RelayedRoomOptions): RelayedRoom;
}

/** `api`: the origin of the API of its region, where that is not the region of the call. */
export type OfferedRelay = RelayOffer & { readonly api?: string };

/** What the media of a room through relays is entered with. */
export interface RelayedRoomOptions {
  readonly room: string;
  readonly me: ParticipantId;
  /** Origin of the API of the region that the call uses now. */
  readonly api: () => string;
  /** The end-to-end key of the room's link (`readSecret`), where it has one. */
  readonly secret: string | null;
  /** Keys for a participant. `false`: not sent, as there is no socket or the participant is away. */
  readonly sendKey: (to: ParticipantId, signal: KeySignal) => boolean;
  /** As `RelayRequests.request`. */
  readonly ask: (without?: string, isLost?: boolean) => Promise<OfferedRelay | null | undefined>;
  /** The state or the media of a participant changed. */
  readonly onChange: () => void;
}

/** The media of a room through relays, until `close()`. */
export interface RelayedRoom {
  /** `none`: the region has no relay for this room. */
  readonly state: 'connecting' | 'open' | 'waiting' | 'none';
  /** The audio of every participant whose `mix` is on. */
  readonly mix: MediaStream;
  /** `undefined` for a participant who is not subscribed to. */
  person(participant: ParticipantId): RelayedPerson | undefined;
  /**
   * `wanted`: which participants to subscribe to, and the size of their cameras on the screen; `null`: audio only. `members`: all others in the
   * room; a key that one had who is gone is replaced.
   */
  follow(wanted: ReadonlyMap<ParticipantId, Size | null>, members: ReadonlySet<ParticipantId>): void;
  /** What a participant sent by its `sendKey`. */
  receiveKey(from: ParticipantId, signal: KeySignal): void;
  /** `undefined` without an end-to-end key; `null` while keys change. */
  securityCode(): Promise<SecurityCode | null> | undefined;
  /** What this participant sends from now on. */
  setMedia(local: LocalMedia): void;
  /** `null` without a connection to a relay. */
  measure(): Promise<RelayCounts | null>;
  /** Ends every subscription and the own broadcast. */
  close(): void;
}

/** What participants compare to know that no other has their keys. */
export interface SecurityCode {
  /** Twenty digits in groups of five: the same for all who have each other's keys. */
  readonly code: string;
  /** The others for whom it stands. */
  readonly participants: readonly ParticipantId[];
}

/** What participants send each other for their keys; the keys themselves are in `sealed`. SPEC rule MEDIA-27. */
export interface KeySignal {
  readonly type: 'key';
  readonly publicKey: string;
  readonly proof: string;
  readonly asks: boolean;
  readonly sealed?: string;
}

/** The media of one participant, as it comes through relays. */
export interface RelayedPerson {
  /** All of it that is shown has arrived: it can replace the mesh. */
  readonly ready: boolean;
  /** It is encrypted with another key than ours, or only one of the two is encrypted: nothing of it is played. */
  readonly otherKey: boolean;
  /** See `Person`. */
  readonly videoPaused: boolean;
  /** `null`: nothing of this source has arrived. */
  track(source: Role): MediaStreamTrack | null;
  /** 0 to 1. */
  level(): number;
  /** Delay until it is played, in ms. */
  targetMs(): number;
  /** How loud its audio is in the mix of the room, 0 to 1; 0: not in it. */
  mix(volume: number): void;
  /** Subscribes to no sound of the participant, or to its sounds again. */
  silence(on: boolean): void;
  /** Of each track that is received. */
  counts(): readonly Count[];
}

/** Counters of the connection to a media relay since it began. */
export interface RelayCounts {
  readonly transport: 'WebTransport' | 'WebSocket';
  /** `null`: unknown. */
  readonly roundTripMs: number | null;
  /** QUIC packets that we sent; 0 where the browser does not say. */
  readonly packets: number;
  /** Those of `packets` that were lost. */
  readonly lost: number;
  readonly sent: readonly Count[];
}

/** The time, and timers. */
export interface Clock {
  /** Monotonic, in ms: for intervals. */
  now(): number;
  /** Unix time in ms: for showing, and for naming link sessions across reloads. */
  wall(): number;
  /** Runs `task` once after `ms`; the answer cancels it. */
  after(ms: number, task: () => void): () => void;
}

/** Random numbers; `bytes` must be unpredictable, as keys are made of them. */
export interface Random {
  /** From 0 up to but not including 1. */
  fraction(): number;
  /** A new array of `count` bytes. */
  bytes(count: number): Uint8Array;
}

/** What the device believes about its network. `online` may be wrong: it only hastens or delays an attempt. */
export interface Network {
  /** Whether the device believes that it has a network now. */
  online(): boolean;
  /** The listener is called after each change; the answer ends the subscription. */
  subscribe(listener: () => void): () => void;
}

/** DEFLATE without a header: RFC 1951. */
export interface Compression {
  /** Rejects only if the environment fails. */
  deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
  /** Rejects when the result would be over `limit` bytes, without holding more than that. */
  inflate(bytes: Uint8Array<ArrayBuffer>, limit: number): Promise<Uint8Array<ArrayBuffer>>;
}

/** Measures the loudness of one track, until `close()`. */
export interface LevelMeter {
  /** 0 to 1, of the last fifth of a second. */
  read(): number;
  /** Releases the track; the caller stops it. */
  close(): void;
}

/** A WebSocket with its events as plain calls. After `onClose` nothing more is called. */
export interface WireHandlers {
  /** Messages can be sent from now on. */
  onOpen(): void;
  /** A text message. */
  onText(text: string): void;
  /** A binary message; the receiver owns the bytes. */
  onBinary(bytes: Uint8Array<ArrayBuffer>): void;
  /** `code`: RFC 6455, section 7.4; 1006 after a loss, also of a socket that never opened. */
  onClose(code: number): void;
}

/** An open or opening WebSocket. */
export interface WireSocket {
  /** Does nothing unless the socket is open. */
  send(data: string | Uint8Array<ArrayBuffer>): void;
  /** Bytes that wait to leave. */
  buffered(): number;
  /** 1000, or 3000 to 4999. */
  close(code: number): void;
}
