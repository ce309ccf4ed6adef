/** The user's own broadcast: camera or screen, microphone, and its connection. The page renders its signals. */
import { openRelay, type Connection } from '@parley/sdk/sfu/transports';
import { computed, effect, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import { browserDevices, problemOf, type MediaProblem } from '../media/devices.ts';
import { LocalMedia } from '../media/local-media.ts';
import type { Publisher, PublishStats, PublishedMedia } from './ports.ts';
import { BROKEN, LOST, TAKEN, UNSUPPORTED } from './refusals.ts';
import { RelayLink, type Link } from './relay-link.ts';
import { LiveRelays } from './relay-request.ts';

export interface PublishFigures extends PublishStats {
  readonly connectedMs: number | null;
  readonly reconnects: number;
}

export const NO_PUBLISH_FIGURES: PublishFigures = {
  width: 0,
  height: 0,
  bits: 0,
  codecs: [],
  hasViewers: false,
  connectedMs: null,
  reconnects: 0,
};

/** The interface of a session for the page; the gallery has its own. */
export interface PublishView {
  readonly name: string;
  readonly media: LocalMedia;
  readonly screen: ReadonlySignal<MediaStream | null>;
  readonly screenProblem: ReadonlySignal<MediaProblem | null>;
  /** `null` while nothing is published. */
  readonly link: ReadonlySignal<Link | null>;
  readonly figures: ReadonlySignal<PublishFigures>;
  shareScreen(): Promise<void>;
  endScreen(): void;
  goLive(): void;
  stop(): void;
  retry(): void;
}

const TICK_MS = 1000;
/** QUIC notices a dead relay after ten seconds, WebSocket after minutes: the relay is asked at this interval. */
const PROBE_INTERVAL_MS = 2000;
const ANSWER_MS = 2000;
/** A refusal over WebSocket arrives one round trip after the connection opened. */
const STABLE_MS = 150;
/** A relay answers within a round trip. */
const TAKEN_MS = 2000;

export class PublishSession implements PublishView {
  readonly name: string;
  readonly media = new LocalMedia(browserDevices());
  readonly screen: Signal<MediaStream | null> = signal<MediaStream | null>(null);
  readonly screenProblem: Signal<MediaProblem | null> = signal<MediaProblem | null>(null);
  readonly link: Signal<Link | null> = signal<Link | null>(null);
  readonly figures: Signal<PublishFigures> = signal(NO_PUBLISH_FIGURES);
  /** A screen has audio only if the user chose so; a voice comes from the microphone. */
  readonly #media = computed((): PublishedMedia => ({
    picture: this.screen.value?.getVideoTracks()[0] ?? this.media.sendingCamera.value,
    sound: liveMicrophone(this.media) ?? this.screen.value?.getAudioTracks()[0] ?? null,
    muted: this.media.muted.value,
  }));
  #closeConnection: (() => void) | null = null;
  #relay: Pick<RelayLink<Connection>, 'connect' | 'leave'> | null = null;
  #connections = 0;
  #probing = false;
  /** The name was free, or the user publishes under it nevertheless. */
  #isOurs = false;
  /** Grows with every start and stop: results of earlier ones are ignored. */
  #attempt = 0;

  constructor(name: string) {
    this.name = name;
    void this.media.begin();
  }

  async shareScreen(): Promise<void> {
    const { access, openScreen } = this.media.port;
    this.screenProblem.value = null;
    if (openScreen === null) {
      this.screenProblem.value = access === 'yes' ? 'unsupported' : access;
      return;
    }
    try {
      const stream = await openScreen();
      this.endScreen();
      this.screen.value = stream;
      // The browser has its own button to stop the screen.
      stream.getVideoTracks()[0]?.addEventListener('ended', () => {
        if (this.screen.peek() === stream) this.endScreen();
      });
    } catch (error) {
      this.screenProblem.value = problemOf(error);
    }
  }

  endScreen(): void {
    for (const track of this.screen.peek()?.getTracks() ?? []) track.stop();
    this.screen.value = null;
  }

  goLive(): void {
    if (this.link.peek() === null) void this.#begin();
  }

  stop(): void {
    this.#attempt += 1;
    this.#closeConnection?.();
    this.#closeConnection = null;
    this.#relay = null;
    this.link.value = null;
    this.figures.value = NO_PUBLISH_FIGURES;
  }

  retry(): void {
    if (this.#relay) this.#relay.connect();
    else void this.#begin();
  }

  close(): void {
    this.stop();
    this.endScreen();
    this.media.close();
  }

  async #begin(): Promise<void> {
    const attempt = ++this.#attempt;
    this.#connections = 0;
    this.#isOurs = false;
    this.link.value = { at: 'connecting' };
    if (!('VideoEncoder' in globalThis)) {
      this.link.value = { at: 'stopped', reason: UNSUPPORTED };
      return;
    }
    const library = await import('./publisher.ts').catch(() => null);
    if (attempt !== this.#attempt) return;
    if (library === null) {
      this.link.value = { at: 'stopped', reason: BROKEN };
      return;
    }
    const publisher = new library.MoqPublisher();
    const relays = new LiveRelays(this.name, true);
    const relay = new RelayLink({
      ask: (exclude) => relays.request(exclude),
      open: async ({ broadcast, relay: at }, last) => {
        const opened = await openRelay(library.connect, at, at.api ?? location.origin, last);
        const on = opened.connection;
        if (!this.#isOurs && (await publisher.isTaken({ on, broadcast }, TAKEN_MS))) this.#stopAsTaken(relay);
        this.#isOurs = true;
        return opened;
      },
      lost: LOST.publish,
      // Viewers wait for it.
      spreadMs: 0,
      serves: staysOpen,
      onLink: (link) => {
        if (link.at === 'open' && this.link.peek()?.at !== 'open') this.#connections += 1;
        this.link.value = link;
      },
      onConnection: (connection) => publisher.setConnection(connection),
    });
    const stopMedia = effect(() => publisher.setMedia(this.#media.value));
    const tickTimer = setInterval(() => this.#tick(publisher.stats()), TICK_MS);
    const probeTimer = setInterval(() => void this.#probe(publisher), PROBE_INTERVAL_MS);
    this.#relay = relay;
    this.#closeConnection = () => {
      clearInterval(tickTimer);
      clearInterval(probeTimer);
      stopMedia();
      relay.close();
      publisher.close();
    };
    relay.connect();
  }

  /** The user may go live anyway: `retry`. */
  #stopAsTaken(relay: Pick<RelayLink<Connection>, 'close'>): void {
    relay.close();
    this.link.value = { at: 'stopped', reason: TAKEN };
  }

  async #probe(publisher: Publisher<Connection>): Promise<void> {
    const link = this.link.peek();
    if (this.#probing || link?.at !== 'open') return;
    this.#probing = true;
    const alive = await publisher.isAlive(ANSWER_MS);
    this.#probing = false;
    if (!alive && link === this.link.peek()) this.#relay?.leave();
  }

  #tick(stats: PublishStats): void {
    const link = this.link.peek();
    this.figures.value = {
      ...stats,
      connectedMs: link?.at === 'open' ? performance.now() - link.since : null,
      reconnects: Math.max(0, this.#connections - 1),
    };
  }
}

async function staysOpen({ closed }: Connection): Promise<boolean> {
  const stable = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => stable.resolve(true), STABLE_MS);
  const over = (): boolean => false;
  try {
    return await Promise.race([closed.then(over, over), stable.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Also while muted: the encoder continues with silence, so that unmuting is immediate. */
function liveMicrophone({ microphone }: LocalMedia): MediaStreamTrack | null {
  return microphone.value.status === 'live' ? microphone.value.track : null;
}
