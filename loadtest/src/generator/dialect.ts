/** The interface between the generator and a server, whatever the server's protocol is. */

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** What a client needs to open a socket. */
export interface Admission {
  readonly target: Target;
  readonly room: string;
  /** Path of the socket. */
  readonly path: string;
  readonly me: string;
  /** First message on the socket. */
  readonly enter: string;
}

export type Received =
  | { readonly kind: 'welcome'; readonly others: readonly string[] }
  /** The payload starts at `at`; it ends `after.length` bytes before the message does. */
  | { readonly kind: 'signal'; readonly from: string; readonly at: number }
  /** A participant joined, left or changed its state. */
  | { readonly kind: 'roster-change' }
  /** The recipient had already left. */
  | { readonly kind: 'undelivered'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string };

export interface Dialect {
  /** Everything before the socket. Rejects if the server refuses. */
  admit(target: Target, room: string): Promise<Admission>;
  /** The text before the payload of a directed message; ASCII. */
  before(to: string, count: number): string;
  /** The text after the payload, sent and received. */
  readonly after: string;
  read(bytes: Buffer, start: number, end: number): Received;
  /** The message that leaves the room before the socket is closed; `null` if closing is enough. */
  readonly leave: string | null;
  /** A room id that this server accepts. */
  newRoom(): string;
}
