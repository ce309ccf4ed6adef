/** Watches one broadcast with `@moq/watch`. Loaded only for watching. */
import { Audio, Broadcast, Net, Signals, Sync, Video } from '@moq/watch';
import type { Player, PlayerStats } from './ports.ts';

export const { connect } = Net.Connection;
type Connection = Awaited<ReturnType<typeof connect>>;

const { Effect, Signal } = Signals;

export class MoqPlayer implements Player<Connection> {
  readonly canvas = document.createElement('canvas');
  readonly #scope = new Effect();
  readonly #connection = new Signal<Connection | undefined>(undefined);
  readonly #name = new Signal(Net.Path.empty());
  readonly #audioEnabled = new Signal(false);
  readonly #videoEnabled = new Signal(false);
  readonly #muted = new Signal(true);
  readonly #broadcast: Broadcast;
  readonly #video: Video.Decoder;
  readonly #audio: Audio.Decoder;
  readonly #sync: Sync;

  constructor(onStatus: (status: 'offline' | 'loading' | 'live') => void) {
    const connection = this.#connection;
    this.#broadcast = this.#owned(
      new Broadcast({
        connection,
        enabled: true,
        name: this.#name,
        reload: true,
        catalogFormat: 'hang',
      }),
    );
    const broadcast = this.#broadcast;
    const videoSource = this.#owned(new Video.Source({ broadcast, supported: Video.Decoder.supported }));
    const audioSource = this.#owned(new Audio.Source({ broadcast, supported: Audio.Decoder.supported }));
    this.#sync = this.#owned(
      new Sync({ connection, video: videoSource.out.jitter, audio: audioSource.out.jitter }),
    );
    this.#video = this.#owned(new Video.Decoder(videoSource, this.#sync, { enabled: this.#videoEnabled }));
    this.#audio = this.#owned(new Audio.Decoder(audioSource, this.#sync, { enabled: this.#audioEnabled }));
    const emitter = this.#owned(new Audio.Emitter(this.#audio, { volume: 1, muted: this.#muted }));
    const renderer = this.#owned(new Video.Renderer(this.#video, { canvas: this.canvas, visible: 'always' }));
    this.#scope.proxy(this.#audioEnabled, emitter.out.enabled);
    this.#scope.proxy(this.#videoEnabled, renderer.out.visible);
    this.#scope.subscribe(broadcast.out.status, onStatus);
  }

  setConnection(connection: { readonly on: Connection; readonly broadcast: string } | null): void {
    if (connection) this.#name.set(Net.Path.from(connection.broadcast));
    this.#connection.set(connection?.on);
  }

  async isAlive(withinMs: number): Promise<boolean> {
    const connection = this.#connection.peek();
    return !connection || this.isAnnounced(connection, this.#name.peek(), withinMs);
  }

  /** Asks a relay whether the broadcast exists, which it answers at once. */
  async isAnnounced(connection: Connection, broadcast: string, withinMs: number): Promise<boolean> {
    const announced = connection.announced(Net.Path.from(broadcast));
    const late = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => late.resolve(false), withinMs);
    const found = announced.next().then((broadcast) => broadcast !== undefined);
    try {
      return await Promise.race([found.catch(() => false), late.promise]);
    } finally {
      clearTimeout(timer);
      announced.close();
    }
  }

  setSound(on: boolean): void {
    this.#muted.set(!on);
  }

  stats(): PlayerStats {
    const size = this.#video.out.display.peek();
    const picture = this.#video.source.out;
    const sound = this.#audio.source.out;
    const codecs = [picture.config.peek()?.codec, sound.config.peek()?.codec];
    return {
      bytes:
        (this.#video.out.stats.peek()?.bytesReceived ?? 0) +
        (this.#audio.out.stats.peek()?.bytesReceived ?? 0),
      frames: this.#video.out.stats.peek()?.frameCount ?? 0,
      width: size?.width ?? 0,
      height: size?.height ?? 0,
      codecs: codecs.filter((codec) => codec !== undefined),
      bufferMs: this.#sync.out.buffer.peek(),
      picture: picture.catalog.peek() !== undefined,
      playable: picture.error.peek() === undefined,
      sound: sound.config.peek() !== undefined,
    };
  }

  close(): void {
    this.#scope.close();
  }

  #owned<Part extends { close(): void }>(part: Part): Part {
    this.#scope.cleanup(() => part.close());
    return part;
  }
}
