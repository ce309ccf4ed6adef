/** What the SDK takes from its surroundings. `browser-ports.ts` builds them from a page or worker; tests give their own. */
import type { MediaPorts } from './sfu/media-ports.ts';
import type { RelayedRoom } from './sfu/relayed-room.ts';

export interface Ports {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly openSocket: (url: string, handlers: WireHandlers) => WireSocket;
  readonly createConnection: (configuration: RTCConfiguration) => RTCPeerConnection;
  /** An empty stream: tracks are added by the SDK. */
  readonly createStream: () => MediaStream;
  readonly clock: Clock;
  readonly random: Random;
  readonly network: Network;
  /** For pages and end-to-end keys. Browsers have it only in secure contexts. */
  readonly subtle: SubtleCrypto;
  /** `null` where the surroundings cannot compress: payloads then travel as text. */
  readonly compression: Compression | null;
  /** Loudness of a track where the browser's own figure is missing; `null` where there is no AudioContext. */
  readonly measureLevel: ((track: MediaStreamTrack) => LevelMeter) | null;
  /** Loads what a room that goes through the relays needs; `null` where the browser has no WebCodecs: it then stays in the mesh. */
  readonly relayedMedia: (() => Promise<RelayedMedia>) | null;
}

export interface RelayedMedia {
  readonly RelayedRoom: typeof RelayedRoom;
  readonly media: MediaPorts;
}

export interface Clock {
  /** Monotonic, in ms: for intervals. */
  now(): number;
  /** Unix time in ms: for showing, and for naming link sessions across reloads. */
  wall(): number;
  /** Runs `task` once after `ms`; the answer cancels it. */
  after(ms: number, task: () => void): () => void;
}

export interface Random {
  /** From 0 up to but not including 1. */
  fraction(): number;
  bytes(count: number): Uint8Array;
}

/** What the device believes about its network. `online` may be wrong: it only hastens or delays an attempt. */
export interface Network {
  online(): boolean;
  subscribe(listener: () => void): () => void;
}

export interface Compression {
  deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
  /** Rejects when the result would be over `limit` bytes, without holding more than that. */
  inflate(bytes: Uint8Array<ArrayBuffer>, limit: number): Promise<Uint8Array<ArrayBuffer>>;
}

export interface LevelMeter {
  /** 0 to 1, of the last fifth of a second. */
  read(): number;
  close(): void;
}

/** A WebSocket with its events as plain calls. After `onClose` nothing more is called. */
export interface WireHandlers {
  onOpen(): void;
  onText(text: string): void;
  onBinary(bytes: Uint8Array<ArrayBuffer>): void;
  onClose(code: number): void;
}

export interface WireSocket {
  send(data: string | Uint8Array<ArrayBuffer>): void;
  /** Bytes that wait to leave. */
  buffered(): number;
  close(code: number): void;
}
