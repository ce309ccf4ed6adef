/** Our broadcast: its tracks and the catalog. Nothing is encoded without a subscriber. */
import { Broadcast, Group, type Track } from '@moq/net';
import type { Count } from '../measure/figures.ts';
import type { Clock } from '../ports.ts';
import type { LocalMedia } from '../media.ts';
import { CATALOG_TRACK, type Catalog, type Source } from './catalog.ts';
import { CAMERA, SCREEN, type Quality } from './codecs.ts';
import type { MediaPorts } from './media-ports.ts';
import { PicturePublisher } from './picture-publisher.ts';
import type { FrameSealer } from './e2ee/frame-cipher.ts';
import { TrackWriter } from './track-writer.ts';
import { VoicePublisher } from './voice-publisher.ts';

export interface OwnMediaKeys {
  /** Names the secret of the room's link. */
  readonly id: string;
  sealer(track: string): FrameSealer;
}

export interface PublisherOptions {
  readonly media: MediaPorts;
  readonly clock: Clock;
  /** Encrypts our media; `null`: relays can read it. */
  readonly keys: OwnMediaKeys | null;
  /** The video codec; `null` if this browser has none. */
  readonly codec: string | null;
}

type Published =
  | { readonly kind: 'picture'; readonly track: MediaStreamTrack; readonly publisher: PicturePublisher }
  | { readonly kind: 'voice'; readonly track: MediaStreamTrack; readonly publisher: VoicePublisher };

export class Publisher {
  readonly #options: PublisherOptions;
  readonly #writers = new Map<string, TrackWriter>();
  readonly #published = new Map<Source, Published>();
  readonly #broadcasts = new Set<Broadcast.Producer>();
  readonly #startedAt: number;
  readonly #startedWall: number;
  readonly #catalogs = new Set<Track.Producer>();
  /** The number of the catalog's last group, which grows over all connections, like those of media. */
  #sequence = -1;

  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.#startedWall = options.clock.wall();
  }

  /** A broadcast of the same tracks for one more connection; it ends with the connection or by its `close`. */
  broadcast(): Broadcast.Producer {
    const broadcast = new Broadcast.Producer();
    this.#broadcasts.add(broadcast);
    for (const writer of this.#writers.values()) writer.serve(broadcast);
    this.#serveCatalogs(broadcast).catch(() => undefined);
    void broadcast.closed.then(() => this.#broadcasts.delete(broadcast));
    return broadcast;
  }

  set({ microphone, camera, screen }: LocalMedia): void {
    const changed = [
      this.#voice('microphone', microphone),
      this.#picture('camera', camera, CAMERA),
      this.#picture('screen', screen?.getVideoTracks()[0] ?? null, SCREEN),
      this.#voice('screen-audio', screen?.getAudioTracks()[0] ?? null),
    ];
    if (changed.includes(true)) this.#writeCatalog(this.#catalogs);
  }

  counts(): Count[] {
    return [...this.#published].flatMap(([source, { kind, publisher }]) => {
      const configs = kind === 'picture' ? publisher.configs() : [publisher.config()];
      return configs.flatMap(([track, config]) =>
        this.#writers.get(track)?.wanted === true ? this.#writer(track).counters.count(source, config) : [],
      );
    });
  }

  close(): void {
    for (const { publisher } of this.#published.values()) publisher.close();
    this.#published.clear();
    for (const broadcast of this.#broadcasts) broadcast.close();
  }

  /** Each subscriber gets a catalog when it comes: the library keeps groups for five seconds only, and the first one may come later. */
  async #serveCatalogs(broadcast: Broadcast.Producer): Promise<void> {
    for (;;) {
      const request = await broadcast.requested();
      if (request === undefined) return;
      if (request.name === CATALOG_TRACK) this.#serveCatalog(request.accept(), broadcast);
      else request.reject(new Error(`no track ${request.name}`));
    }
  }

  #serveCatalog(track: Track.Producer, broadcast: Broadcast.Producer): void {
    // The request was for the properties of the track alone.
    if (!track.used.peek()) return;
    this.#catalogs.add(track);
    this.#writeCatalog([track]);
    void Promise.race([track.unused(), broadcast.closed]).then(() => {
      this.#catalogs.delete(track);
      track.close();
    });
  }

  #writeCatalog(tracks: Iterable<Track.Producer>): void {
    this.#sequence += 1;
    for (const track of tracks) {
      if (track.closed.peek() !== undefined) continue;
      const group = new Group.Producer(this.#sequence);
      group.writeString(JSON.stringify(this.#currentCatalog()));
      group.close();
      track.writeGroup(group);
    }
  }

  #currentCatalog(): Catalog {
    const video: NonNullable<Catalog['video']>['renditions'] = {};
    const audio: NonNullable<Catalog['audio']>['renditions'] = {};
    for (const { kind, publisher } of this.#published.values()) {
      if (kind === 'picture') for (const [track, config] of publisher.configs()) video[track] = config;
      else audio[publisher.config()[0]] = publisher.config()[1];
    }
    const { keys } = this.#options;
    return {
      video: { renditions: video },
      audio: { renditions: audio },
      ...(keys === null ? {} : { seal: { scheme: 'sframe', key: keys.id } }),
    };
  }

  #picture(source: Source, track: MediaStreamTrack | null, qualities: readonly Quality[]): boolean {
    const { codec, media, clock } = this.#options;
    return this.#replace(source, codec === null ? null : track, (live) => ({
      kind: 'picture',
      track: live,
      publisher: new PicturePublisher(live, {
        source,
        codec: codec ?? '',
        qualities,
        media,
        clock,
        onShape: () => this.#writeCatalog(this.#catalogs),
        ...this.#shared,
      }),
    }));
  }

  #voice(source: Source, track: MediaStreamTrack | null): boolean {
    const { media } = this.#options;
    return this.#replace(source, track, (live) => ({
      kind: 'voice',
      track: live,
      publisher: new VoicePublisher(live, { source, media, ...this.#shared }),
    }));
  }

  #replace(
    source: Source,
    track: MediaStreamTrack | null,
    publish: (track: MediaStreamTrack) => Published,
  ): boolean {
    const before = this.#published.get(source);
    if ((before?.track ?? null) === track) return false;
    before?.publisher.close();
    if (track === null) this.#published.delete(source);
    else this.#published.set(source, publish(track));
    return true;
  }

  readonly #shared = {
    writer: (name: string): TrackWriter => this.#writer(name),
    now: (): number => (this.#startedWall + this.#options.clock.now() - this.#startedAt) * 1000,
  };

  /** Exists as long as the page: group numbers continue when a camera returns. */
  #writer(name: string): TrackWriter {
    const known = this.#writers.get(name);
    if (known !== undefined) return known;
    const writer = new TrackWriter(name, this.#options.keys?.sealer(name));
    this.#writers.set(name, writer);
    for (const broadcast of this.#broadcasts) writer.serve(broadcast);
    return writer;
  }
}
