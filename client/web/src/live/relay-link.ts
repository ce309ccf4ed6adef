/** A connection to a media relay that comes back: each time the service is asked anew, after a pause that grows. */
import type { Close } from '../streams/closes.ts';
import { STEADY_MS, waitMs } from '../streams/waiting.ts';
import { RELAY_SILENT } from './refusals.ts';
import type { Connection, Opened, Transport } from './transports.ts';
import type { WayAnswer, WayIn } from './way-in.ts';

export type Link =
  | { readonly at: 'connecting' }
  | { readonly at: 'open'; readonly since: number; readonly transport: Transport }
  | { readonly at: 'waiting'; readonly why: Close; readonly until: number }
  | { readonly at: 'stopped'; readonly why: Close };

export interface RelayLinkOptions<Kind extends Connection> {
  readonly ask: () => Promise<WayAnswer>;
  readonly open: (way: WayIn) => Promise<Opened<Kind>>;
  /** What to say of a connection that was lost. */
  readonly lost: Close;
  readonly onLink: (link: Link) => void;
  /** The connection in use, and the name of the broadcast on it; `null` while there is none. */
  readonly onConnection: (connection: { readonly on: Kind; readonly broadcast: string } | null) => void;
}

export class RelayLink<Kind extends Connection> {
  readonly #options: RelayLinkOptions<Kind>;
  #connection: Kind | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #tries = 0;
  /** Grows with every attempt: what an earlier one still brings is not listened to. */
  #attempt = 0;

  constructor(options: RelayLinkOptions<Kind>) {
    this.#options = options;
  }

  connect(): void {
    this.#drop();
    this.#options.onLink({ at: 'connecting' });
    void this.#open(this.#attempt);
  }

  close(): void {
    this.#drop();
  }

  async #open(attempt: number): Promise<void> {
    const answer = await this.#options.ask();
    if (attempt !== this.#attempt) return;
    if ('refused' in answer) {
      this.#again(answer.refused, answer.afterMs ?? 0);
      return;
    }
    const opened = await this.#options.open(answer.way).catch(() => null);
    if (attempt !== this.#attempt) opened?.connection.close();
    else if (opened) this.#use(opened, answer.way.broadcast);
    else this.#again(RELAY_SILENT);
  }

  #use({ transport, connection }: Opened<Kind>, broadcast: string): void {
    const since = performance.now();
    this.#connection = connection;
    this.#options.onConnection({ on: connection, broadcast });
    this.#options.onLink({ at: 'open', since, transport });
    const lost = (): void => {
      if (connection !== this.#connection) return;
      if (performance.now() - since > STEADY_MS) this.#tries = 0;
      this.#again(this.#options.lost);
    };
    connection.closed.then(lost, lost);
  }

  #again(why: Close, atLeastMs = 0): void {
    const ms = waitMs(why.again, this.#tries, Math.random());
    this.#drop();
    if (ms === null) {
      this.#tries = 0;
      this.#options.onLink({ at: 'stopped', why });
      return;
    }
    this.#tries += 1;
    this.#timer = setTimeout(() => this.connect(), atLeastMs + ms);
    this.#options.onLink({ at: 'waiting', why, until: performance.now() + atLeastMs + ms });
  }

  #drop(): void {
    this.#attempt += 1;
    clearTimeout(this.#timer);
    const connection = this.#connection;
    this.#connection = null;
    if (connection === null) return;
    this.#options.onConnection(null);
    connection.close();
  }
}
