/**
 * The connection to the service while pages are open: one socket at a time, each a new visitor. Transfers between visitors continue without it;
 * after each `welcome`, `onArrived` announces everything again. SPEC rules PAGE-5 and PAGE-9.
 */
import type { IceOffer, IceServer } from '@parley/protocol/http';
import {
  PAGES_SOCKET,
  type PageWelcome,
  type VisitMessage,
  type VisitorId,
  type VisitorMessage,
} from '@parley/protocol/pages';
import type { LinkMessage } from '@parley/protocol/pages-peer';
import type { Undelivered } from '@parley/protocol/server-messages';
import { backoff } from '../net/backoff.ts';
import { hasTurn, renewIn } from '../mesh/ice-servers.ts';
import type { Ports } from '../ports.ts';
import type { PageRefusal, PagesSnapshot } from './api.ts';
import { refusalOf } from './refusals.ts';
import { openVisitSocket, type VisitSocket } from './visit-socket.ts';

export interface VisitHandlers {
  onArrived(): void;
  onMessage(message: VisitMessage): void;
  onDirected(from: VisitorId, message: LinkMessage): void;
  /** A directed message of this link was not delivered. */
  onUndelivered(link: string, reason: Undelivered['reason']): void;
  onChange(): void;
}

type Step =
  | { readonly at: 'opening'; readonly socket: VisitSocket }
  | { readonly at: 'open'; readonly socket: VisitSocket; readonly visitor: VisitorId; readonly since: number }
  | { readonly at: 'waiting'; readonly go: () => void; readonly cancel: () => void }
  | { readonly at: 'closed' };

/** A connection that ends sooner counts as a failure: the next wait is longer. */
const STABLE_MS = 5000;
/** Devices report being offline wrongly often enough that the client still tries at this interval. */
const OFFLINE_RETRY_MS = 15_000;
/** A pod limits the messages of a socket per second. This pace stays well below, so that subscriptions to pages always pass. */
const PACE = { most: 20, everyMs: 40 };
/** More messages wait only if the receiver does not read. */
const QUEUE = 500;
/** Requests of strangers for missing content must not delay messages to others. */
const REFUSALS = 20;
const TOKEN_MS = 5000;
const ICE_MS = 5000;

export class Visit {
  readonly #url: string;
  readonly #ports: Ports;
  readonly #handlers: VisitHandlers;
  readonly #stopListening: () => void;
  #step: Step;
  #arrived: PageWelcome | null = null;
  #stunServers: readonly IceServer[] = [];
  /** TURN servers, with credentials that are valid until then. */
  #turn: { readonly servers: readonly IceServer[]; readonly until: number } | null = null;
  #visitors: number | null = null;
  #refusal: PageRefusal | null = null;
  #failures = 0;
  #counter = 0;
  #queue: (() => void)[] = [];
  #left = PACE.most;
  #cancelPace: (() => void) | null = null;
  #cancelMove: () => void = () => undefined;
  /** Callers that wait for the answer to one request. */
  #waitForIce: ((servers: readonly IceServer[] | null) => void)[] = [];
  #cancelIceWait: () => void = () => undefined;
  readonly #tokens = new Map<string, (token: string | null) => void>();

  constructor(api: string, ports: Ports, handlers: VisitHandlers) {
    this.#url = `${api.replace(/^http/, 'ws')}${PAGES_SOCKET}`;
    this.#ports = ports;
    this.#handlers = handlers;
    this.#stopListening = ports.network.subscribe(() => this.#networkChanged());
    this.#step = this.#open();
  }

  get connection(): PagesSnapshot['connection'] {
    if (this.#step.at === 'open') return 'open';
    return this.#arrived === null && this.#step.at === 'opening' ? 'connecting' : 'waiting';
  }

  /** `null` before the first connection. */
  get limits(): PageWelcome['limits'] | null {
    return this.#arrived?.limits ?? null;
  }

  /** Who we are now; `null` without a connection. */
  get visitor(): VisitorId | null {
    return this.#step.at === 'open' ? this.#step.visitor : null;
  }

  get visitors(): number | null {
    return this.#step.at === 'open' ? this.#visitors : null;
  }

  get refusal(): PageRefusal | null {
    return this.#refusal;
  }

  get stunServers(): readonly IceServer[] {
    return this.#stunServers;
  }

  /** TURN servers, requested if credentials are missing or expire soon; `null` if the service gives none in time. SPEC rule PAGE-15. */
  async turnServers(): Promise<readonly IceServer[] | null> {
    const { clock } = this.#ports;
    if (this.#turn !== null && clock.now() < this.#turn.until) return this.#turn.servers;
    if (this.#waitForIce.length === 0) {
      if (!this.send({ type: 'ice' })) return null;
      this.#cancelIceWait = clock.after(ICE_MS, () => this.#iceAnswered(null));
    }
    return new Promise((resolve) => this.#waitForIce.push(resolve));
  }

  /** `false` without a connection: state is sent again after `onArrived`. */
  send(message: VisitorMessage): boolean {
    if (this.#step.at !== 'open') return false;
    this.#step.socket.send(message);
    return true;
  }

  sendTo(to: VisitorId, message: LinkMessage): void {
    const step = this.#step;
    const most = message.type === 'reject' ? REFUSALS : QUEUE;
    if (step.at !== 'open' || this.#queue.length >= most) return;
    this.#counter += 1;
    const id = `${message.link}.${(this.#counter % 36).toString(36)}`;
    this.#queue.push(() => step.socket.sendDirected(to, id, message));
    this.#flush();
  }

  /** `null` if the service gives none in time. */
  async requestToken(pipe: string): Promise<string | null> {
    if (!this.send({ type: 'pipe', pipe })) return null;
    return new Promise((resolve) => {
      const done = (token: string | null): void => {
        cancel();
        this.#tokens.delete(pipe);
        resolve(token);
      };
      const cancel = this.#ports.clock.after(TOKEN_MS, () => done(null));
      this.#tokens.set(pipe, done);
    });
  }

  close(): void {
    const step = this.#step;
    this.#step = { at: 'closed' };
    this.#quieten();
    this.#stopListening();
    if (step.at === 'opening' || step.at === 'open') step.socket.close();
    if (step.at === 'waiting') step.cancel();
  }

  #open(): Step {
    try {
      const socket: VisitSocket = openVisitSocket(this.#url, this.#ports, {
        onMessage: (message) => this.#receive(message),
        onDirected: (from, message) => this.#handlers.onDirected(from, message),
        onLost: ({ code, retryAfterMs }) =>
          this.#lost(code === null ? null : refusalOf(code), retryAfterMs ?? 0),
      });
      return { at: 'opening', socket };
    } catch {
      // The browser refused the address.
      return this.#wait(OFFLINE_RETRY_MS);
    }
  }

  #receive(message: VisitMessage): void {
    switch (message.type) {
      case 'welcome':
        this.#hasArrived(message);
        return;
      case 'visitors':
        this.#visitors = message.visitors;
        this.#handlers.onChange();
        return;
      case 'ice':
        this.#takeIce(message);
        return;
      case 'pipe':
        this.#tokens.get(message.pipe)?.(message.token);
        return;
      case 'undelivered':
        this.#handlers.onUndelivered(message.id.split('.')[0] ?? '', message.reason);
        return;
      case 'goaway':
        this.#move(message.afterMs);
        return;
      case 'pong':
        return;
      case 'error':
        if (message.code === 'TOO_MANY_ICE_REQUESTS') this.#iceAnswered(null);
        if (message.fatal) this.#refusal = { code: message.code, message: message.message };
        this.#handlers.onMessage(message);
        return;
      case 'holders':
      case 'count':
        this.#handlers.onMessage(message);
        return;
      default:
        message satisfies never;
    }
  }

  #hasArrived(arrived: PageWelcome): void {
    if (this.#step.at !== 'opening') return;
    const { socket } = this.#step;
    this.#step = { at: 'open', socket, visitor: arrived.visitor, since: this.#ports.clock.now() };
    this.#arrived = arrived;
    this.#visitors = arrived.visitors;
    this.#refusal = null;
    this.#left = PACE.most;
    this.#stunServers = arrived.iceServers;
    this.#handlers.onArrived();
    this.#handlers.onChange();
  }

  #takeIce({ iceServers, iceTtlS }: IceOffer): void {
    const lasts = renewIn(iceTtlS, this.#ports.random) ?? 0;
    this.#turn = hasTurn(iceServers) ? { servers: iceServers, until: this.#ports.clock.now() + lasts } : null;
    this.#iceAnswered(this.#turn?.servers ?? null);
  }

  #iceAnswered(servers: readonly IceServer[] | null): void {
    this.#cancelIceWait();
    for (const resolve of this.#waitForIce.splice(0)) resolve(servers);
  }

  /** The pod drains: it serves this visitor until its slot. */
  #move(afterMs: number): void {
    this.#cancelMove();
    this.#cancelMove = this.#ports.clock.after(afterMs, () => {
      if (this.#step.at !== 'open') return;
      this.#step.socket.close();
      this.#quieten();
      this.#step = this.#open();
      this.#handlers.onChange();
    });
  }

  #lost(refusal: PageRefusal | null, retryAfterMs: number): void {
    const step = this.#step;
    if (step.at !== 'opening' && step.at !== 'open') return;
    const steady = step.at === 'open' && this.#ports.clock.now() - step.since >= STABLE_MS;
    this.#failures = steady ? 0 : this.#failures + 1;
    this.#refusal = refusal;
    this.#quieten();
    this.#step = this.#wait(retryAfterMs);
    this.#handlers.onChange();
  }

  #wait(atLeastMs: number): Step {
    const jittered = atLeastMs + backoff(this.#failures, this.#ports.random);
    const ms = this.#ports.network.online() ? jittered : Math.max(jittered, OFFLINE_RETRY_MS);
    const go = (): void => {
      cancel();
      this.#step = this.#open();
      this.#handlers.onChange();
    };
    const cancel = this.#ports.clock.after(ms, go);
    return { at: 'waiting', go, cancel };
  }

  #networkChanged(): void {
    if (this.#step.at === 'open') this.#step.socket.probe();
    else if (this.#step.at === 'waiting' && this.#ports.network.online()) this.#step.go();
  }

  /** Drops the state of the previous socket. */
  #quieten(): void {
    this.#queue = [];
    this.#cancelPace?.();
    this.#cancelPace = null;
    this.#cancelMove();
    this.#iceAnswered(null);
    for (const done of this.#tokens.values()) done(null);
  }

  #flush(): void {
    while (this.#left > 0) {
      const next = this.#queue.shift();
      if (next === undefined) break;
      this.#left -= 1;
      next();
    }
    if (this.#left < PACE.most && this.#cancelPace === null) {
      this.#cancelPace = this.#ports.clock.after(PACE.everyMs, () => {
        this.#cancelPace = null;
        this.#left += 1;
        this.#flush();
      });
    }
  }
}
