/**
 * The media link with one participant: at most one live connection, and the lower rungs of the recovery ladder. The starter (the larger participant
 * id) creates sessions; the other side waits for them and may ask for a newer one. The order of repair: ICE restart, a second one, then a new
 * connection in a new session; each rung waits for the previous one. While the other participant or our own socket is away nothing can be
 * negotiated, so the ladder pauses; media that still flows is left alone.
 */
import type { Undelivered } from '@parley/protocol/server-messages';
import type { Link } from '../call.ts';
import type { Counts } from '../measure/figures.ts';
import type { LinkSignal } from './payload.ts';
import { Peer, type Ends } from './peer.ts';
import { grown } from '../net/backoff.ts';
import type { Ports } from '../ports.ts';
import type { Outgoing, StreamNames } from './senders.ts';

export interface LinkOptions {
  readonly ports: Ports;
  readonly starter: boolean;
  readonly names: StreamNames;
  configuration(): RTCConfiguration;
  /** Whether a signal can be sent now: our socket is open and the other participant has one. */
  reachable(): boolean;
  /** Whether the other participant signals that it sends audio or video. */
  isSending(): boolean;
  /** Whether an owner muted the other participant. */
  isMuted(): boolean;
  send(signal: LinkSignal): void;
  /** The other side opened a data channel. */
  onChannel(channel: RTCDataChannel): void;
  /** The path broke, or a repair failed: unless it recovers, an ICE restart or a new connection follows soon. */
  onBroken(): void;
  onChange(): void;
}

/** Most `disconnected` states recover within this time. The polite side waits longer, so that usually only one side restarts. */
const RESTART_AFTER_MS = { starter: 2500, other: 4000 };
/** Nothing arrives although ICE reports a good path: it cannot recover alone. The service is first asked for working TURN nodes. */
const RESTART_SILENT_MS = { starter: 500, other: 2000 };
const RESTARTS = 2;
const AFTER_RESTART_MS = 5000;
/** A first connection through TURN over TCP takes seconds; after this time it is repeated. */
const CONNECT_MS = 12_000;
/** The pause between new connections, doubled each time up to the cap, so that a network that blocks everything is not flooded. */
const RENEW = { firstMs: 8000, capMs: 30_000 };
/** Before each attempt after the first the service is asked for working TURN nodes: a node that has just ended is offered for some seconds more. */
const RENEW_BEFORE_MS = 500;
/** After this many unsuccessful connections the SDK reports to the application that the link failed; attempts continue. */
const FAILED_AFTER = 3;
/** How long the other side waits for an offer before it asks for one. */
const OFFER_MS = 2000;
/** A request for a new session that crosses our offer is answered by that offer. */
const FRESH_MS = 1500;
/** An undelivered message is sent again after this time: the other side is probably moving to another pod. */
const UNDELIVERED_MS = 300;

export class PeerLink {
  readonly #options: LinkOptions;
  #media: Outgoing;
  #peer: Peer | null = null;
  #session = 0;
  #sessionAt = Number.NEGATIVE_INFINITY;
  #phase: 'connecting' | 'connected' | 'recovering' = 'connecting';
  #restarts = 0;
  #renewals = 0;
  #cancelStep: () => void = () => undefined;
  #cancelNudge: () => void = () => undefined;
  #closed = false;

  constructor(media: Outgoing, options: LinkOptions) {
    this.#options = options;
    this.#media = media;
    if (options.starter) this.#begin(0);
    else this.#after(OFFER_MS, () => this.#renew());
  }

  get view(): Link {
    const verdict = this.#peer?.verdict ?? null;
    if (this.#phase !== 'connected') {
      return { status: this.#renewals >= FAILED_AFTER ? 'failed' : this.#phase };
    }
    return verdict === null
      ? { status: 'connected', path: 'direct', quality: 'unknown', roundTripMs: null, lossPercent: null }
      : { status: 'connected', ...verdict };
  }

  get stream(): MediaStream | null {
    return this.#peer?.stream ?? null;
  }

  get screen(): MediaStream | null {
    return this.#peer?.screen ?? null;
  }

  level(): number {
    return this.#peer?.level() ?? 0;
  }

  /** `isMuted` may have changed. */
  silence(): void {
    this.#peer?.silence();
  }

  /** The counters of the current connection; `undefined` without one. */
  counts(): Promise<Counts> | undefined {
    return this.#peer?.counts();
  }

  get ends(): Ends | null {
    return this.#peer?.ends ?? null;
  }

  /** `null` while the two are not connected. */
  openChannel(label: string, options: RTCDataChannelInit): RTCDataChannel | null {
    const connection = this.#peer?.connection;
    if (connection?.connectionState !== 'connected') return null;
    // The first one has to be negotiated, and an offer that cannot be sent would end a connection that works.
    if (connection.sctp === null && !this.#options.reachable()) return null;
    return connection.createDataChannel(label, options);
  }

  setMedia(media: Outgoing): void {
    this.#media = media;
    this.#peer?.setMedia(media);
  }

  setIceServers(servers: RTCIceServer[]): void {
    this.#peer?.setIceServers(servers);
  }

  handle(signal: LinkSignal): void {
    if (this.#closed) return;
    if (signal.type === 'renew') {
      if (this.#options.starter) this.#renewalRequested(signal.session);
      return;
    }
    const offered = signal.type === 'description' && signal.kind === 'offer';
    if (!this.#options.starter && offered) {
      if (signal.session > this.#session) this.#open(signal.session);
      else if (signal.session < this.#session) {
        // The starter was reloaded and its clock is earlier.
        this.#options.send({ type: 'renew', session: this.#session });
      }
    }
    if (signal.session === this.#session) this.#peer?.negotiation.handle(signal);
  }

  /** The service could not deliver a signal. Participants that are `away`, `unreachable` or `unknown` return or leave the roster. */
  undelivered(reason: Undelivered['reason']): void {
    if (reason === 'away' || reason === 'unreachable' || reason === 'unknown') return;
    this.#cancelNudge();
    this.#cancelNudge = this.#options.ports.clock.after(UNDELIVERED_MS, () => this.reachableAgain());
  }

  /** The other participant or our own socket returned: sends again what may be lost. */
  reachableAgain(): void {
    if (this.#closed) return;
    const state = this.#peer?.connection.connectionState;
    if (this.#peer === null) this.#renew();
    else if (state === 'failed' || state === 'disconnected') this.#climb();
    else if (this.#peer.silent) this.#restart(this.#peer);
    else this.#peer.negotiation.nudge();
  }

  /** This page was reloaded: the connection that the other side has is worthless. */
  reloaded(): void {
    if (!this.#options.starter && this.#peer === null) this.#renew();
  }

  close(): void {
    this.#closed = true;
    this.#cancelStep();
    this.#cancelNudge();
    this.#peer?.close();
    this.#peer = null;
  }

  #begin(above: number): void {
    this.#open(Math.max(this.#options.ports.clock.wall(), this.#session + 1, above + 1));
  }

  #open(session: number): void {
    this.#peer?.close();
    const { ports, starter, names } = this.#options;
    this.#session = session;
    this.#sessionAt = ports.clock.now();
    this.#restarts = 0;
    if (this.#phase === 'connected') this.#phase = 'recovering';
    const peer: Peer = new Peer({
      ports,
      session,
      starter,
      names,
      media: this.#media,
      configuration: this.#options.configuration(),
      send: (signal) => this.#options.send(signal),
      onState: (state) => this.#stateChanged(peer, state),
      onChannel: (channel) => this.#options.onChannel(channel),
      onChange: () => this.#options.onChange(),
      onStuck: () => this.#renew(),
      isSending: () => this.#options.isSending(),
      isMuted: () => this.#options.isMuted(),
      onSilent: () => this.#fellSilent(peer),
    });
    this.#peer = peer;
    this.#afterAsking(CONNECT_MS, () => this.#renew());
    this.#options.onChange();
  }

  #stateChanged(peer: Peer, state: RTCPeerConnectionState): void {
    if (peer !== this.#peer) return;
    if (state === 'connected') {
      this.#cancelStep();
      this.#phase = 'connected';
      this.#restarts = 0;
      this.#renewals = 0;
    } else if (state === 'failed') {
      this.#options.onBroken();
      this.#climb();
    } else if (state === 'disconnected') {
      this.#options.onBroken();
      const wait = this.#options.starter ? RESTART_AFTER_MS.starter : RESTART_AFTER_MS.other;
      this.#after(wait, () => this.#climb());
    }
    this.#options.onChange();
  }

  /** Make before break: media on the old path is played until there is a new one. */
  #fellSilent(peer: Peer): void {
    if (peer !== this.#peer || peer.connection.connectionState !== 'connected') return;
    this.#options.onBroken();
    const wait = this.#options.starter ? RESTART_SILENT_MS.starter : RESTART_SILENT_MS.other;
    this.#after(wait, () => {
      if (peer.silent && this.#options.reachable()) this.#restart(peer);
    });
  }

  #restart(peer: Peer): void {
    this.#restarts += 1;
    peer.connection.restartIce();
    this.#afterAsking(AFTER_RESTART_MS, () => this.#climb());
  }

  /** The next rung: an ICE restart while attempts remain, then a new connection. */
  #climb(): void {
    const peer = this.#peer;
    if (peer === null) return;
    const connected = peer.connection.connectionState === 'connected';
    if (connected && !peer.silent) {
      this.#restarts = 0;
      return;
    }
    // A participant that signals media and sends none is no worse off on this connection than on a new one.
    if (connected && this.#restarts >= RESTARTS) return;
    if (!connected && this.#phase === 'connected') this.#phase = 'recovering';
    if (!this.#options.reachable()) this.#after(AFTER_RESTART_MS, () => this.#climb());
    else if (this.#restarts >= RESTARTS) this.#renew();
    else this.#restart(peer);
    this.#options.onChange();
  }

  /** A new connection: the starter creates it, the other side requests it. */
  #renew(): void {
    if (this.#closed) return;
    if (this.#phase === 'connected') this.#phase = 'recovering';
    const first = this.#peer === null;
    if (!this.#options.reachable()) {
      this.#after(OFFER_MS, () => this.#renew());
      return;
    }
    const wait = first ? OFFER_MS : grown(RENEW, this.#renewals);
    if (!first) this.#renewals += 1;
    if (this.#options.starter) this.#begin(0);
    else this.#options.send({ type: 'renew', session: this.#session });
    this.#afterAsking(Math.max(wait, this.#options.starter ? CONNECT_MS : 0), () => this.#renew());
    this.#options.onChange();
  }

  #renewalRequested(session: number): void {
    const peer = this.#peer;
    const fresh = this.#options.ports.clock.now() - this.#sessionAt < FRESH_MS;
    if (peer !== null && session < this.#session && !peer.negotiation.settled) {
      if (!fresh) peer.negotiation.nudge();
      return;
    }
    if (!fresh) this.#begin(session);
  }

  #afterAsking(ms: number, task: () => void): void {
    this.#after(ms - RENEW_BEFORE_MS, () => {
      this.#options.onBroken();
      this.#after(RENEW_BEFORE_MS, task);
    });
  }

  #after(ms: number, task: () => void): void {
    this.#cancelStep();
    this.#cancelStep = this.#options.ports.clock.after(ms, () => {
      if (!this.#closed) task();
    });
  }
}
