/**
 * A connection to a media relay that is reconnected: the service is asked each time, after a growing pause. A connection that is about to end,
 * because the relay drains or the token expires, is replaced early: the next one opens while the old one still works (MEDIA-11).
 */
import type { Clock, Random } from '../ports.ts';
import { sessionMs, type Connection, type Opened, type Relay, type Transport } from './transports.ts';
import { STABLE_MS, retryDelayMs, type Retry } from './retry-delay.ts';

/** The reason why there is no connection; an application adds its sentence. */
export interface LossReason {
  readonly again: Retry;
}

/** The answer of the service: a relay, and the name of our broadcast on it. */
export interface RelayAssignment {
  readonly broadcast: string;
  readonly relay: Relay;
}

export type AssignmentAnswer<Reason extends LossReason> =
  { readonly assignment: RelayAssignment } | { readonly refused: Reason; readonly afterMs: number | null };

export type RelayLinkState<Reason extends LossReason> =
  | { readonly at: 'connecting' }
  | { readonly at: 'open'; readonly since: number; readonly transport: Transport }
  | { readonly at: 'waiting'; readonly reason: Reason; readonly until: number }
  | { readonly at: 'stopped'; readonly reason: Reason };

export interface RelayLinkOptions<Kind extends Connection, Reason extends LossReason> {
  readonly clock: Clock;
  readonly random: Random;
  /** `exclude`: the address of a relay that the answer must not contain if there is another. `isLost`: no connection works. */
  readonly ask: (exclude: string | undefined, isLost: boolean) => Promise<AssignmentAnswer<Reason>>;
  /** `last`: the transport of the last connection. */
  readonly open: (assignment: RelayAssignment, last?: Transport) => Promise<Opened<Kind>>;
  /** A client that receives GOAWAY moves within this time. */
  readonly spreadMs: number;
  /** Whether a new connection can replace the old one: a connection that is refused may be open for a moment. */
  readonly serves: (connection: Kind, broadcast: string) => Promise<boolean>;
  /** The reason for a lost connection. */
  readonly lost: Reason;
  /** The reason for a relay that did not answer. */
  readonly silent: Reason;
  readonly onLink: (link: RelayLinkState<Reason>) => void;
  /** The current connection and the name of the broadcast on it; `null` without one. */
  readonly onConnection: (connection: { readonly on: Kind; readonly broadcast: string } | null) => void;
}

/** The old connection works while the next one is opened, so that pauses grow only once. */
const MAX_TRIES = 1;
/**
 * A replaced connection stays open until all participants have moved, because they may still need the broadcast on it: over WebSocket they move
 * only after the edge has noticed the drain.
 */
export const OVERLAP_MS = 5000;
/** A connection that was left after silence: the relay receives our media on the new one before it loses the old one. */
const LEFT_MS = 500;
/** The share of a session's duration after which the next one is opened, with jitter. */
const RENEWED_AT = 0.8;
const RENEWED_OVER = 0.1;

export class RelayLink<Kind extends Connection, Reason extends LossReason> {
  readonly #options: RelayLinkOptions<Kind, Reason>;
  #connection: Kind | null = null;
  /** The relay of the connection is silent, and another one is being opened. */
  #leaving = false;
  /** Tells `onLink` of the connection, and arms the timer of its renewal. */
  #confirm: () => void = () => undefined;
  readonly #replaced = new Set<Kind>();
  #cancel: () => void = () => undefined;
  #tries = 0;
  /** The last relay that was lost or did not answer. */
  #exclude: string | undefined;
  #url: string | undefined;
  #transport: Transport | undefined;
  /** Grows with every attempt: results of earlier ones are ignored. */
  #attempt = 0;

  constructor(options: RelayLinkOptions<Kind, Reason>) {
    this.#options = options;
  }

  connect(): void {
    this.#drop();
    this.#options.onLink({ at: 'connecting' });
    void this.#open(this.#attempt, this.#options.ask(this.#exclude, true));
  }

  /** Asks for another relay, for `leave`: this one may be dead although the connection is open. */
  askOther(): Promise<AssignmentAnswer<Reason>> {
    return this.#options.ask(this.#url, true);
  }

  /**
   * Connects to another relay, as this one is silent. The connection is kept until then: if only packets were lost, it works again (`stay`), and
   * over a new one the media would be back later. `other`: of `askOther`.
   */
  leave(other?: Promise<AssignmentAnswer<Reason>>): void {
    this.#exclude = this.#url;
    this.#cancel();
    this.#attempt += 1;
    this.#leaving = this.#connection !== null;
    this.#options.onLink({ at: 'connecting' });
    void this.#open(this.#attempt, other ?? this.#options.ask(this.#exclude, true));
  }

  /** The relay that `leave` was called for answers again. */
  stay(): void {
    if (!this.#leaving) return;
    this.#leaving = false;
    this.#attempt += 1;
    this.#exclude = undefined;
    this.#confirm();
  }

  close(): void {
    this.#drop();
    for (const old of this.#replaced) this.#part(old);
  }

  async #open(attempt: number, asked: Promise<AssignmentAnswer<Reason>>): Promise<void> {
    const answer = await asked;
    if (attempt !== this.#attempt) return;
    if ('refused' in answer) {
      this.#again(answer.refused, answer.afterMs ?? 0);
      return;
    }
    const opened = await this.#options.open(answer.assignment, this.#transport).catch(() => null);
    if (attempt !== this.#attempt) opened?.connection.close();
    else if (opened) {
      this.#replace(LEFT_MS);
      this.#use(opened, answer.assignment);
    } else {
      this.#exclude = answer.assignment.relay.url;
      this.#again(this.#options.silent);
    }
  }

  #use({ transport, connection }: Opened<Kind>, { broadcast, relay }: RelayAssignment): void {
    const { clock, random, spreadMs, onConnection, onLink } = this.#options;
    const since = clock.now();
    this.#connection = connection;
    this.#leaving = false;
    this.#exclude = undefined;
    this.#url = relay.url;
    this.#transport = transport;
    onConnection({ on: connection, broadcast });
    const lost = (): void => {
      if (connection !== this.#connection) return;
      if (this.#leaving) {
        this.#release();
        return;
      }
      if (clock.now() - since > STABLE_MS) this.#tries = 0;
      this.#exclude = this.#url;
      this.#again(this.#options.lost);
    };
    connection.closed.then(lost, lost);
    const move = (ms: number, exclude?: string): void => {
      if (connection !== this.#connection || this.#leaving) return;
      this.#cancel();
      this.#cancel = clock.after(ms, () => void this.#move(connection, exclude));
    };
    let redirected = false;
    const lasts = sessionMs(relay);
    const renewAt = lasts && since + lasts * (RENEWED_AT + RENEWED_OVER * random.fraction());
    this.#confirm = () => {
      onLink({ at: 'open', since, transport });
      if (redirected) move(random.fraction() * spreadMs, relay.url);
      else if (renewAt !== null) move(Math.max(0, renewAt - clock.now()));
    };
    this.#confirm();
    connection.goaway ??= Promise.withResolvers<void>();
    void connection.goaway.promise.then(() => {
      redirected = true;
      move(random.fraction() * spreadMs, relay.url);
    });
  }

  /** Retries until it succeeds or the old connection ends. */
  async #move(old: Kind, exclude: string | undefined, tries = 0): Promise<void> {
    const attempt = ++this.#attempt;
    const answer = await this.#options.ask(exclude, false);
    const assignment = 'assignment' in answer ? answer.assignment : null;
    const opened = assignment && (await this.#options.open(assignment, this.#transport).catch(() => null));
    const serves = opened && (await this.#options.serves(opened.connection, assignment.broadcast));
    if (serves === true && attempt === this.#attempt) {
      this.#replace(OVERLAP_MS);
      this.#use(opened, assignment);
      return;
    }
    opened?.connection.close();
    if (attempt === this.#attempt) {
      const ms = retryDelayMs('later', Math.min(tries, MAX_TRIES), this.#options.random.fraction()) ?? 0;
      this.#cancel = this.#options.clock.after(ms, () => void this.#move(old, exclude, tries + 1));
    }
  }

  /** Keeps the connection, of which the next one takes the place, for this time. */
  #replace(ms: number): void {
    const old = this.#connection;
    if (old === null) return;
    this.#replaced.add(old);
    this.#options.clock.after(ms, () => this.#part(old));
  }

  #part(old: Kind): void {
    if (this.#replaced.delete(old)) old.close();
  }

  #again(reason: Reason, atLeastMs = 0): void {
    const ms = retryDelayMs(reason.again, this.#tries, this.#options.random.fraction());
    this.#drop();
    if (ms === null) {
      this.#tries = 0;
      this.#options.onLink({ at: 'stopped', reason });
      return;
    }
    this.#tries += 1;
    this.#cancel = this.#options.clock.after(atLeastMs + ms, () => this.connect());
    this.#options.onLink({ at: 'waiting', reason, until: this.#options.clock.now() + atLeastMs + ms });
  }

  #drop(): void {
    this.#attempt += 1;
    this.#cancel();
    this.#release()?.close();
  }

  /** The connection is no longer used. */
  #release(): Kind | null {
    const connection = this.#connection;
    this.#leaving = false;
    this.#connection = null;
    if (connection !== null) this.#options.onConnection(null);
    return connection;
  }
}
