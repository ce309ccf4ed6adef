/**
 * One connection with one visitor for one page: a data channel, or a pipe if ICE finds no path. It has its own id, because visitors get new ids.
 * The side that opens it is initially the reader; the messages are the same in both directions. SPEC rules PAGE-14 to PAGE-16.
 */
import type { PageAddress, VisitorId } from '@parley/protocol/pages';
import type { LinkMessage } from '@parley/protocol/pages-peer';
import type { PagePeer, PagePath } from './api.ts';
import { toBase64 } from './base64.ts';
import type { Bitmap } from './bitmap.ts';
import { DataChannel, type Signal } from './data-channel.ts';
import { Dialogue } from './dialogue.ts';
import { openPipe } from './pipe.ts';
import type { PageOf, Tab } from './tab.ts';
import type { WireEnd } from './wire.ts';

/**
 * The reason why a link ended. `bad`: the other side sent invalid content or messages; `silent`: it never answered; `gone`: no visitor has this id; `full`:
 * both sides have the complete page.
 */
export type LinkEnd =
  | 'bye'
  | 'lost'
  | 'silent'
  | 'gone'
  | 'busy'
  | 'not-found'
  | 'glare'
  | 'bad'
  | 'stalled'
  | 'full'
  | 'dropped';

/** The interface of a page for its links. */
export interface LinkHost {
  /** `null` while unknown. */
  readonly manifest: () => string | null;
  /** The chunks that are here; `null` while the manifest is unknown. */
  readonly here: () => Bitmap | null;
  readonly chunk: (chunk: number) => Uint8Array<ArrayBuffer> | undefined;
  readonly onOpen: (link: PageLink) => void;
  readonly onManifest: (link: PageLink, text: string) => void;
  readonly onHave: (link: PageLink, chunks: Iterable<number>) => void;
  readonly onChunk: (link: PageLink, chunk: number, bytes: Uint8Array<ArrayBuffer>) => void;
  readonly onReject: (link: PageLink, chunk: number) => void;
  /** The path became known or changed. Also called soon after the end of a short link. */
  readonly onPath: (link: PageLink) => void;
  /** Called once, as the last event. */
  readonly onEnd: (link: PageLink, reason: LinkEnd) => void;
}

/** A holder in a background tab may need this time; one that does not answer has left. */
const ANSWER_MS = 12_000;
/**
 * Timeouts from the answer on: without TURN, and with TURN, where TCP takes some seconds. The answering side waits longer, for the next attempt of
 * the other.
 */
const CONNECT_MS = { first: 4000, last: 10_000, answered: 15_000 };
/** The timeout from the moment one side uses the relay until both do. */
const PIPE_MS = 20_000;
/** The timeout from an open connection to its handshake. */
const OPEN_MS = 10_000;
/** The interval at which the path is read: it rarely changes. */
const PATH_INTERVAL_MS = 10_000;
const PIPE_NAME_BYTES = 16;
/** The limit of candidates that wait while TURN credentials are requested: as many as one connection takes. */
const EARLY = 64;
/** A reader that takes less keeps its place only until another visitor needs it. */
const PLACE_BYTES = 131_072;

export class PageLink {
  readonly id: string;
  readonly began: boolean;
  /** The latest id of the other visitor. */
  visitor: VisitorId;
  received = 0;
  sent = 0;
  /** When the reader last had taken PLACE_BYTES, or connected. */
  servedAt: number;
  /** The bytes that were sent at that time. */
  #servedAfter = 0;
  readonly #page: PageAddress;
  readonly #tab: Tab;
  readonly #host: LinkHost;
  #channel: DataChannel | null = null;
  #dialogue: Dialogue | null = null;
  #path: PagePath = 'connecting';
  #answered = false;
  /** The number of connection attempts. */
  #tries = 0;
  /** The current connection may use TURN. */
  #relayed = false;
  /** Signals for the connection that is created once the service sent TURN credentials; `null` if none is pending. */
  #early: ((channel: DataChannel) => void)[] | null = null;
  #ended = false;
  #closeWire: () => void = () => undefined;
  #cancelDeadline: () => void = () => undefined;
  #cancelPath: () => void = () => undefined;

  /** `began`: this side sends the offer. */
  constructor(
    { id, visitor, began }: { readonly id: string; readonly visitor: VisitorId; readonly began: boolean },
    { page, tab }: PageOf,
    host: LinkHost,
  ) {
    this.id = id;
    this.began = began;
    this.visitor = visitor;
    this.#page = page;
    this.#tab = tab;
    this.#host = host;
    this.servedAt = tab.ports.clock.now();
  }

  get open(): boolean {
    return !this.#ended && this.#dialogue?.opened === true;
  }

  /** The other side accepted the offer. */
  get answered(): boolean {
    return this.#answered;
  }

  get view(): Omit<PagePeer, 'whole'> {
    const { visitor, received, sent } = this;
    return { visitor, path: this.open ? this.#path : 'connecting', received, sent };
  }

  /** The path that carried chunks. */
  get carried(): PagePath {
    return this.received + this.sent > 0 ? this.#path : 'connecting';
  }

  offer(): void {
    this.#connect((channel) => channel.offer());
    this.#cancelDeadline();
    // A visitor that answered the first offer and not the second may run a version without second offers.
    this.#cancelDeadline = this.#tab.ports.clock.after(ANSWER_MS, () =>
      this.#tries > 1 ? this.#takeToPipe() : this.#finish('silent', { bye: true }),
    );
  }

  answer(sdp: string): void {
    this.#answered = true;
    this.#cancelDeadline();
    this.#connect((channel) => channel.takeOffer(sdp));
  }

  receive(from: VisitorId, message: LinkMessage): void {
    if (this.#ended) return;
    this.visitor = from;
    switch (message.type) {
      case 'answer':
        if (!this.began || this.#answered) return;
        this.#answered = true;
        this.#cancelDeadline();
        this.#channel?.takeAnswer(message.sdp);
        return;
      case 'candidate':
        this.#toChannel((channel) => channel.takeCandidate(message.candidate, message.mid));
        return;
      case 'reject':
        if (this.began && !this.#answered) this.#finish(message.reason, { bye: false });
        return;
      case 'pipe':
        this.takePipe(message.pipe);
        return;
      case 'offer':
        // The first attempt, without TURN, failed.
        if (!this.began && this.#dialogue === null && this.#tries === 1) this.answer(message.sdp);
        return;
      default:
        message satisfies never;
    }
  }

  /** The other side found no direct path. */
  takePipe(pipe: string): void {
    if (!this.began && this.#dialogue === null) this.#pipe(pipe);
  }

  known(): void {
    this.#dialogue?.known();
  }

  got(chunk: number): void {
    this.#dialogue?.got(chunk);
  }

  get(chunk: number): void {
    this.#dialogue?.get(chunk);
  }

  close(reason: LinkEnd): void {
    this.#finish(reason, { bye: true });
  }

  /** Without TURN first; then with TURN, once there are credentials. */
  #connect(begin: (channel: DataChannel) => void): void {
    this.#channel?.close();
    this.#channel = null;
    const direct = this.#tries === 0 ? this.#tab.direct() : null;
    this.#tries += 1;
    this.#relayed = direct === null;
    if (direct !== null) {
      begin(this.#open(direct));
      return;
    }
    const early = [begin];
    this.#early = early;
    void this.#tab.relayed().then((relayed) => {
      if (this.#ended || this.#early !== early) return;
      this.#early = null;
      // The answering side may still be reached through the TURN server of the other.
      const configuration = relayed ?? (this.began ? null : this.#tab.direct());
      if (configuration !== null) {
        const channel = this.#open(configuration);
        for (const task of early) task(channel);
      } else if (this.began) this.#takeToPipe();
      else this.#within(PIPE_MS, 'lost');
    });
  }

  #open(configuration: RTCConfiguration): DataChannel {
    const { clock, createConnection } = this.#tab.ports;
    const channel = new DataChannel(
      {
        clock,
        createConnection,
        configuration,
        connectMs: this.began ? CONNECT_MS[this.#relayed ? 'last' : 'first'] : CONNECT_MS.answered,
        send: (signal) => this.#signal(signal),
      },
      this.#end({ lossy: false, onLost: () => this.#channelLost() }),
    );
    this.#channel = channel;
    this.#closeWire = () => channel.close();
    return channel;
  }

  #toChannel(task: (channel: DataChannel) => void): void {
    if (this.#early !== null && this.#early.length < EARLY) this.#early.push(task);
    else if (this.#channel !== null) task(this.#channel);
  }

  #signal(signal: Signal): void {
    const link = this.id;
    const page = this.#page;
    this.#sendTo(signal.type === 'offer' ? { ...signal, link, page } : { ...signal, link });
  }

  #sendTo(message: LinkMessage): void {
    this.#tab.sendTo(this.visitor, message);
  }

  /** Before the handshake another path is tried; the reader chooses. */
  #channelLost(): void {
    if (this.#ended) return;
    this.#channel = null;
    if (this.#dialogue !== null || !this.#answered) this.#finish('lost', { bye: false });
    else if (!this.began) this.#within(PIPE_MS, 'lost');
    else if (!this.#relayed) {
      this.#answered = false;
      this.offer();
    } else this.#takeToPipe();
  }

  #takeToPipe(): void {
    const pipe = toBase64(this.#tab.ports.random.bytes(PIPE_NAME_BYTES));
    this.#sendTo({ type: 'pipe', link: this.id, page: this.#page, pipe });
    this.#pipe(pipe);
  }

  #pipe(pipe: string): void {
    this.#channel?.close();
    this.#channel = null;
    this.#early = null;
    this.#closeWire();
    const { api, ports, requestToken } = this.#tab;
    this.#within(PIPE_MS, 'lost');
    this.#closeWire = openPipe(
      { api, pipe, ports, token: async () => requestToken(pipe) },
      this.#end({ lossy: true, onLost: () => this.#finish('lost', { bye: false }) }),
    );
  }

  #end({ lossy, onLost }: { readonly lossy: boolean; readonly onLost: () => void }): WireEnd {
    const { manifest, here, chunk } = this.#host;
    let dialogue: Dialogue | null = null;
    return {
      onLost,
      onOpen: (wire) => {
        if (this.#ended) return;
        if (!lossy) this.#within(OPEN_MS, 'silent');
        dialogue = new Dialogue({
          page: this.#page,
          clock: this.#tab.ports.clock,
          wire,
          lossy,
          manifest,
          here,
          chunk,
          onOpen: () => this.#opened(lossy),
          onManifest: (text) => this.#host.onManifest(this, text),
          onHave: (chunks) => this.#host.onHave(this, chunks),
          onChunk: (number, bytes) => this.#host.onChunk(this, number, bytes),
          onReject: (number) => this.#host.onReject(this, number),
          onSent: (bytes) => this.#gave(bytes),
          onBye: () => this.#finish('bye', { bye: false }),
          onFault: () => this.#finish('bad', { bye: true }),
        });
        this.#dialogue = dialogue;
      },
      onText: (text) => dialogue?.receive(text),
      onBinary: (bytes) => dialogue?.receiveBinary(bytes),
      onDrained: () => dialogue?.give(),
    };
  }

  #opened(lossy: boolean): void {
    this.#cancelDeadline();
    if (lossy) this.#path = 'relay';
    else void this.#readPath();
    this.#host.onOpen(this);
  }

  async #readPath(): Promise<void> {
    const path = await this.#channel?.path();
    if (path !== undefined && path !== null && path !== this.#path) {
      this.#path = path;
      this.#host.onPath(this);
    }
    if (this.#ended) return;
    this.#cancelPath = this.#tab.ports.clock.after(PATH_INTERVAL_MS, () => void this.#readPath());
  }

  #gave(bytes: number): void {
    this.sent += bytes;
    if (this.sent - this.#servedAfter >= PLACE_BYTES) {
      this.#servedAfter = this.sent;
      this.servedAt = this.#tab.ports.clock.now();
    }
    this.#tab.onChange();
  }

  #within(ms: number, reason: LinkEnd): void {
    this.#cancelDeadline();
    this.#cancelDeadline = this.#tab.ports.clock.after(ms, () => this.#finish(reason, { bye: true }));
  }

  #finish(reason: LinkEnd, { bye }: { readonly bye: boolean }): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancelDeadline();
    this.#cancelPath();
    this.#dialogue?.end({ bye });
    this.#closeWire();
    this.#host.onEnd(this, reason);
  }
}
