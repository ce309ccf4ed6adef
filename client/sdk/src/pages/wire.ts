/** A connection between two visitors, whichever way it goes: whole messages, in order. */

export interface Wire {
  /** Never throws: what cannot be sent ends the connection. */
  send(data: string | Uint8Array<ArrayBuffer>): void;
  /** Bytes that wait to leave. */
  buffered(): number;
  /** What was sent before still leaves. */
  close(): void;
}

export interface WireEnd {
  onOpen(wire: Wire): void;
  onText(text: string): void;
  onBinary(bytes: Uint8Array<ArrayBuffer>): void;
  /** What waited has left, for the most part. */
  onDrained(): void;
  /** It never opened, or is lost. Once, and last; not after `close`. */
  onLost(): void;
}
