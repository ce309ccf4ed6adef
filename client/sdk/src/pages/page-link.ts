/**
 * One connection with one visitor about one page: a data channel, and where ICE finds no way, a pipe. It is known by its own id, as visitors
 * get new ones. Whoever begins it is the reader, to begin with; what is said on it is the same from both sides. SPEC rules PAGE-14 to PAGE-16.
 */
import type { PageAddress, VisitorId } from '@parley/protocol/pages';
import type { LinkMessage } from '@parley/protocol/pages-peer';
import type { PagePeer, PageWay } from './api.ts';
import { toBase64 } from './base64.ts';
import type { Bitmap } from './bitmap.ts';
import { DataChannel, type Signal } from './data-channel.ts';
import { Dialogue } from './dialogue.ts';
import { openPipe } from './pipe.ts';
import type { PageOf, Tab } from './tab.ts';
import type { WireEnd } from './wire.ts';

/**
 * Why a link ended. `bad`: they sent what is not of the page, or what nobody sends by mistake; `silent`: they never answered; `gone`: nobody
 * of this id is there; `full`: both have all of it.
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

/** What a link takes from its page, and tells it. */
export interface LinkHost {
  /** `null` while it is not known. */
  readonly manifest: () => string | null;
  /** What is here; `null` while the manifest is not known. */
  readonly here: () => Bitmap | null;
  readonly chunk: (chunk: number) => Uint8Array<ArrayBuffer> | undefined;
  readonly onOpen: (link: PageLink) => void;
  readonly onManifest: (link: PageLink, text: string) => void;
  readonly onHas: (link: PageLink, chunks: Iterable<number>) => void;
  readonly onChunk: (link: PageLink, chunk: number, bytes: Uint8Array<ArrayBuffer>) => void;
  readonly onNot: (link: PageLink, chunk: number) => void;
  /** The way is known, or another one; also soon after the end of a short link. */
  readonly onWay: (link: PageLink) => void;
  /** Once, and last. */
  readonly onEnd: (link: PageLink, why: LinkEnd) => void;
}

/** A holder in a background tab may need its time; whoever answers nothing has gone. */
const ANSWER_MS = 12_000;
/** From the answer on: without TURN, and with it, where over TCP it takes some seconds. Whoever answered waits for what the other tries next. */
const CONNECT_MS = { first: 4000, last: 10_000, answered: 15_000 };
/** From the moment on that one side goes through the relay until both are there. */
const PIPE_MS = 20_000;
/** On a connection that is up, until they say what it is about. */
const OPEN_MS = 10_000;
/** A way may change, though rarely. */
const WAY_MS = 10_000;
const PIPE_NAME_BYTES = 16;
/** Candidates that come while the service is asked for TURN: as many as a connection takes. */
const EARLY = 64;
/** A reader who takes less keeps its place only as long as nobody else asks for it. */
const PLACE_BYTES = 131_072;

export class PageLink {
  readonly id: string;
  readonly began: boolean;
  /** As they were last heard of. */
  visitor: VisitorId;
  received = 0;
  sent = 0;
  /** When they last had taken as much as a place is given for, or came. */
  servedAt: number;
  /** As much was sent then. */
  #servedAfter = 0;
  readonly #page: PageAddress;
  readonly #tab: Tab;
  readonly #host: LinkHost;
  #channel: DataChannel | null = null;
  #dialogue: Dialogue | null = null;
  #way: PageWay = 'connecting';
  #answered = false;
  /** Connections that were begun. */
  #tries = 0;
  /** The connection of now may use TURN. */
  #relayed = false;
  /** For the connection that is made once the service has given credentials for TURN; `null` where none is waited for. */
  #early: ((channel: DataChannel) => void)[] | null = null;
  #ended = false;
  #closeWire: () => void = () => undefined;
  #cancelDeadline: () => void = () => undefined;
  #cancelWay: () => void = () => undefined;

  /** `began`: we offer. */
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

  /** The other side took the offer. */
  get answered(): boolean {
    return this.#answered;
  }

  get view(): Omit<PagePeer, 'whole'> {
    const { visitor, received, sent } = this;
    return { visitor, way: this.open ? this.#way : 'connecting', received, sent };
  }

  /** How chunks came or went. */
  get carried(): PageWay {
    return this.received + this.sent > 0 ? this.#way : 'connecting';
  }

  offer(): void {
    this.#connect((channel) => channel.offer());
    this.#cancelDeadline();
    // Whoever answered once and now does not may be of a version that knows no second offer.
    this.#cancelDeadline = this.#tab.ports.clock.after(ANSWER_MS, () =>
      this.#tries > 1 ? this.#takeToPipe() : this.#finish('silent', { bye: true }),
    );
  }

  answer(sdp: string): void {
    this.#answered = true;
    this.#cancelDeadline();
    this.#connect((channel) => channel.takeOffer(sdp));
  }

  hear(from: VisitorId, message: LinkMessage): void {
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
        // Nothing came of the first, which went without TURN.
        if (!this.began && this.#dialogue === null && this.#tries === 1) this.answer(message.sdp);
        return;
      default:
        message satisfies never;
    }
  }

  /** The other side found no direct way. */
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

  close(why: LinkEnd): void {
    this.#finish(why, { bye: true });
  }

  /** Directly at first; with TURN after that, once there are credentials. */
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
      // Whoever answers may still be reached through the TURN server of the other side.
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
    this.#tell(signal.type === 'offer' ? { ...signal, link, page } : { ...signal, link });
  }

  #tell(message: LinkMessage): void {
    this.#tab.tell(this.visitor, message);
  }

  /** Before anything was said on it, another way is tried; the reader says which. */
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
    this.#tell({ type: 'pipe', link: this.id, page: this.#page, pipe });
    this.#pipe(pipe);
  }

  #pipe(pipe: string): void {
    this.#channel?.close();
    this.#channel = null;
    this.#early = null;
    this.#closeWire();
    const { api, ports, askToken } = this.#tab;
    this.#within(PIPE_MS, 'lost');
    this.#closeWire = openPipe(
      { api, pipe, ports, token: async () => askToken(pipe) },
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
          onHas: (chunks) => this.#host.onHas(this, chunks),
          onChunk: (number, bytes) => this.#host.onChunk(this, number, bytes),
          onNot: (number) => this.#host.onNot(this, number),
          onSent: (bytes) => this.#gave(bytes),
          onBye: () => this.#finish('bye', { bye: false }),
          onFault: () => this.#finish('bad', { bye: true }),
        });
        this.#dialogue = dialogue;
      },
      onText: (text) => dialogue?.hear(text),
      onBinary: (bytes) => dialogue?.hearBinary(bytes),
      onDrained: () => dialogue?.give(),
    };
  }

  #opened(lossy: boolean): void {
    this.#cancelDeadline();
    if (lossy) this.#way = 'relay';
    else void this.#findWay();
    this.#host.onOpen(this);
  }

  async #findWay(): Promise<void> {
    const way = await this.#channel?.way();
    if (way !== undefined && way !== null && way !== this.#way) {
      this.#way = way;
      this.#host.onWay(this);
    }
    if (this.#ended) return;
    this.#cancelWay = this.#tab.ports.clock.after(WAY_MS, () => void this.#findWay());
  }

  #gave(bytes: number): void {
    this.sent += bytes;
    if (this.sent - this.#servedAfter >= PLACE_BYTES) {
      this.#servedAfter = this.sent;
      this.servedAt = this.#tab.ports.clock.now();
    }
    this.#tab.onChange();
  }

  #within(ms: number, why: LinkEnd): void {
    this.#cancelDeadline();
    this.#cancelDeadline = this.#tab.ports.clock.after(ms, () => this.#finish(why, { bye: true }));
  }

  #finish(why: LinkEnd, { bye }: { readonly bye: boolean }): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancelDeadline();
    this.#cancelWay();
    this.#dialogue?.end({ bye });
    this.#closeWire();
    this.#host.onEnd(this, why);
  }
}
