/** A connection between two visitors, over any transport: complete messages, in order. */

export interface Wire {
  /** Never throws: a failure to send ends the connection. */
  send(data: string | Uint8Array<ArrayBuffer>): void;
  /** Bytes that are not sent yet. */
  buffered(): number;
  /** Messages that were sent before are still delivered. */
  close(): void;
}

export interface WireEnd {
  onOpen(wire: Wire): void;
  onText(text: string): void;
  onBinary(bytes: Uint8Array<ArrayBuffer>): void;
  /** Most of the waiting bytes are sent. */
  onDrained(): void;
  /** The connection did not open, or is lost. Called once, as the last event; not after `close`. */
  onLost(): void;
}
