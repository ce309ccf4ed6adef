/**
 * A connection to a media relay that comes back: each time the service is asked anew, after a pause that grows. One that is about to
 * end, as the relay drains or the token runs out, is replaced before: the next one is opened while it still stands (MEDIA-11).
 */
import type { Clock, Random } from '../ports.ts';
import { sessionMs, type Connection, type Opened, type Relay, type Transport } from './transports.ts';
import { STEADY_MS, waitMs, type Again } from './waiting.ts';

/** Why there is no connection: an application adds its words. */
export interface Why {
  readonly again: Again;
}

/** What the service answered: a relay, and what our broadcast is called on it. */
export interface WayIn {
  readonly broadcast: string;
  readonly relay: Relay;
}

export type WayAnswer<Reason extends Why> =
  { readonly way: WayIn } | { readonly refused: Reason; readonly afterMs: number | null };

export type RelayLinkState<Reason extends Why> =
  | { readonly at: 'connecting' }
  | { readonly at: 'open'; readonly since: number; readonly transport: Transport }
  | { readonly at: 'waiting'; readonly why: Reason; readonly until: number }
  | { readonly at: 'stopped'; readonly why: Reason };

export interface RelayLinkOptions<Kind extends Connection, Reason extends Why> {
  readonly clock: Clock;
  readonly random: Random;
  /** `exclude` the relay with this address, where there is another. */
  readonly ask: (exclude?: string) => Promise<WayAnswer<Reason>>;
  readonly open: (way: WayIn) => Promise<Opened<Kind>>;
  /** Whoever is told to go does so within this. */
  readonly spreadMs: number;
  /** Whether a connection is as good as the one that it is to replace: one that is refused may be open for a moment. */
  readonly serves: (connection: Kind, broadcast: string) => Promise<boolean>;
  /** What to say of a connection that was lost. */
  readonly lost: Reason;
  /** And of a relay that did not answer. */
  readonly silent: Reason;
  readonly onLink: (link: RelayLinkState<Reason>) => void;
  /** The connection in use, and the name of the broadcast on it; `null` while there is none. */
  readonly onConnection: (connection: { readonly on: Kind; readonly broadcast: string } | null) => void;
}

/** The old connection is good while the next is looked for, so that pauses do not grow beyond the second one. */
const MOST_TRIES = 1;
/**
 * A connection that was replaced stays until everyone has moved, who may need the broadcast that goes out on it: over WebSocket nobody
 * does before the edge has noticed that the relay drains.
 */
export const OVERLAP_MS = 5000;
/** The part of a session's time after which the next one is opened, a little earlier or later for each. */
const RENEWED_AT = 0.8;
const RENEWED_OVER = 0.1;

export class RelayLink<Kind extends Connection, Reason extends Why> {
  readonly #options: RelayLinkOptions<Kind, Reason>;
  #connection: Kind | null = null;
  readonly #replaced = new Set<Kind>();
  #cancel: () => void = () => undefined;
  #tries = 0;
  /** The relay that was lost or did not answer: at most the last one. */
  #exclude: string | undefined;
  #url: string | undefined;
  /** Grows with every attempt: what an earlier one still brings is not listened to. */
  #attempt = 0;

  constructor(options: RelayLinkOptions<Kind, Reason>) {
    this.#options = options;
  }

  connect(): void {
    this.#drop();
    this.#options.onLink({ at: 'connecting' });
    void this.#open(this.#attempt);
  }

  /** As `connect`, anywhere but here: the relay is dead, though the connection still stands. */
  leave(): void {
    this.#exclude = this.#url;
    this.connect();
  }

  close(): void {
    this.#drop();
    for (const old of this.#replaced) this.#part(old);
  }

  async #open(attempt: number): Promise<void> {
    const answer = await this.#options.ask(this.#exclude);
    if (attempt !== this.#attempt) return;
    if ('refused' in answer) {
      this.#again(answer.refused, answer.afterMs ?? 0);
      return;
    }
    const opened = await this.#options.open(answer.way).catch(() => null);
    if (attempt !== this.#attempt) opened?.connection.close();
    else if (opened) this.#use(opened, answer.way);
    else {
      this.#exclude = answer.way.relay.url;
      this.#again(this.#options.silent);
    }
  }

  #use({ transport, connection }: Opened<Kind>, { broadcast, relay }: WayIn): void {
    const since = this.#options.clock.now();
    this.#connection = connection;
    this.#exclude = undefined;
    this.#url = relay.url;
    this.#options.onConnection({ on: connection, broadcast });
    this.#options.onLink({ at: 'open', since, transport });
    const lost = (): void => {
      if (connection !== this.#connection) return;
      if (this.#options.clock.now() - since > STEADY_MS) this.#tries = 0;
      this.#exclude = this.#url;
      this.#again(this.#options.lost);
    };
    connection.closed.then(lost, lost);
    const move = (ms: number, exclude?: string): void => {
      if (connection !== this.#connection) return;
      this.#cancel();
      this.#cancel = this.#options.clock.after(ms, () => void this.#move(connection, exclude));
    };
    connection.goneAway ??= Promise.withResolvers<void>();
    void connection.goneAway.promise.then(() =>
      move(this.#options.random.fraction() * this.#options.spreadMs, relay.url),
    );
    const lasts = sessionMs(relay);
    if (lasts !== null) move(lasts * (RENEWED_AT + RENEWED_OVER * this.#options.random.fraction()));
  }

  /** Until it succeeds or the old connection is over. */
  async #move(old: Kind, exclude: string | undefined, tries = 0): Promise<void> {
    const attempt = ++this.#attempt;
    const answer = await this.#options.ask(exclude);
    const way = 'way' in answer ? answer.way : null;
    const opened = way && (await this.#options.open(way).catch(() => null));
    const serves = opened && (await this.#options.serves(opened.connection, way.broadcast));
    if (serves === true && attempt === this.#attempt) {
      this.#replaced.add(old);
      this.#use(opened, way);
      this.#options.clock.after(OVERLAP_MS, () => this.#part(old));
      return;
    }
    opened?.connection.close();
    if (attempt === this.#attempt) {
      const ms = waitMs('later', Math.min(tries, MOST_TRIES), this.#options.random.fraction()) ?? 0;
      this.#cancel = this.#options.clock.after(ms, () => void this.#move(old, exclude, tries + 1));
    }
  }

  #part(old: Kind): void {
    if (this.#replaced.delete(old)) old.close();
  }

  #again(why: Reason, atLeastMs = 0): void {
    const ms = waitMs(why.again, this.#tries, this.#options.random.fraction());
    this.#drop();
    if (ms === null) {
      this.#tries = 0;
      this.#options.onLink({ at: 'stopped', why });
      return;
    }
    this.#tries += 1;
    this.#cancel = this.#options.clock.after(atLeastMs + ms, () => this.connect());
    this.#options.onLink({ at: 'waiting', why, until: this.#options.clock.now() + atLeastMs + ms });
  }

  #drop(): void {
    this.#attempt += 1;
    this.#cancel();
    const connection = this.#connection;
    this.#connection = null;
    if (connection === null) return;
    this.#options.onConnection(null);
    connection.close();
  }
}
