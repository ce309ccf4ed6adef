/** The one interface through which the generator speaks to a server, whatever that server's words are. */

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** What somebody holds who may open a socket. */
export interface Admission {
  readonly target: Target;
  readonly room: string;
  /** Path of the socket. */
  readonly path: string;
  readonly me: string;
  /** First message on the socket. */
  readonly enter: string;
}

export type Heard =
  | { readonly heard: 'welcome'; readonly others: readonly string[] }
  /** The payload starts at `at`; it ends `after.length` bytes before the message does. */
  | { readonly heard: 'signal'; readonly from: string; readonly at: number }
  /** Somebody came or went. */
  | { readonly heard: 'news' }
  /** The reader was gone already. */
  | { readonly heard: 'undelivered'; readonly why: string }
  | { readonly heard: 'refused'; readonly why: string };

export interface Dialect {
  /** Everything before the socket. Rejects where the server says no. */
  admit(target: Target, room: string): Promise<Admission>;
  /** What stands before the payload of a directed message; ASCII. */
  before(to: string, count: number): string;
  /** What stands after it, sent and received. */
  readonly after: string;
  read(bytes: Buffer, start: number, end: number): Heard;
  /** Said before the socket is closed, where leaving is more than that. */
  readonly leave: string | null;
  /** A room id this server takes. */
  newRoom(): string;
}
