/** Subscribes to the media of one participant that is shown or played here: catalog, one rendition of each video, and audio. */
import type { Broadcast } from '@moq/net';
import type { ParticipantId } from '@parley/protocol/ids';
import type { Count } from '../measure/figures.ts';
import type { Size } from '../media.ts';
import type { Clock, RelayedPerson } from '../ports.ts';
import {
  CATALOG_TRACK,
  chooseAudio,
  chooseVideo,
  readCatalog,
  type AudioConfig,
  type Catalog,
  type Source,
  type VideoConfig,
} from './catalog.ts';
import type { FrameOpener } from './e2ee/frame-cipher.ts';
import type { MediaPorts, PictureSink, Voices, VoiceSink } from './media-ports.ts';
import { PicturePlayer } from './picture-player.ts';
import { Playout } from './playout.ts';
import { VoicePlayer } from './voice-player.ts';
import type { TrackCounters } from './track-counters.ts';
import { TrackPlayback, type Player } from './track-playback.ts';

export interface HeardMediaKeys {
  /** Names the secret of the room's link. */
  readonly id: string;
  opener(participant: ParticipantId, instance: string, track: string): FrameOpener;
}

export interface SubscriberOptions {
  readonly participant: ParticipantId;
  /** `null` without an end-to-end key. */
  readonly keys: () => HeardMediaKeys | null;
  readonly media: MediaPorts;
  readonly voices: Voices;
  readonly clock: Clock;
  /** Tracks were added or removed, or the first frame was shown. */
  readonly onChange: () => void;
  /** Data arrived from the relay. */
  readonly onReceived: () => void;
}

/** Under congestion the relay sends the highest priority first. */
const PRIORITY = { catalog: 100, voice: 90, screen: 60, camera: 50 } as const;
/** A client of another kind may send nothing in silence. */
const SILENT_MS = 2000;
/** The number of frames dropped within a quarter of a second, and the delay, that count as trouble. */
const MAX_LOST = 2;
const LATE_MS = 400;
/** A screen is always subscribed at full size. */
const FULL: Size = { width: 1920, height: 1080 };

const weighed = ({ lost, cut }: TrackCounters): number => lost + MAX_LOST * cut;

interface Picture {
  readonly config: VideoConfig;
  readonly sink: PictureSink;
  playback: TrackPlayback<PicturePlayer>;
  /** The previous rendition, until the new one shows a frame. */
  before: TrackPlayback<PicturePlayer> | null;
  shown: boolean;
}
interface Voice {
  readonly since: number;
  received: boolean;
  readonly config: AudioConfig;
  readonly sink: VoiceSink;
  readonly playback: TrackPlayback<VoicePlayer>;
}

export class Subscriber implements RelayedPerson {
  videoPaused = false;
  readonly #options: SubscriberOptions;
  #playout = new Playout();
  #size: Size | null = null;
  #volume = 0;
  #silenced = false;
  #broadcast: Broadcast.Consumer | null = null;
  #instance = '';
  #ready = false;
  #suspended = false;
  #catalog: Catalog | null = null;
  #catalogTrack: TrackPlayback<Player> | null = null;
  readonly #pictures = new Map<Source, Picture>();
  readonly #voices = new Map<Source, Voice>();
  #lost = { pictures: 0, voices: 0 };
  /** Sources of this page of the participant that sent a frame larger than allowed: they are not subscribed again, under any name. */
  readonly #refused = new Set<Source>();

  constructor(options: SubscriberOptions) {
    this.#options = options;
  }

  /** The broadcast of the participant on the current connection; another `instance` is another page. `null`: it or the connection ended. */
  use(broadcast: Broadcast.Consumer | null, instance: string): void {
    this.#broadcast = broadcast;
    this.#suspended = false;
    if (broadcast === null) {
      this.#unready();
      return;
    }
    if (instance !== this.#instance) this.#startOver(instance);
    this.#catalogTrack ??= new TrackPlayback(CATALOG_TRACK, this.#catalogReader(), {
      priority: PRIORITY.catalog,
      clock: this.#options.clock,
    });
    this.#catalogTrack.read(broadcast);
    for (const { playback } of this.#everything()) playback.read(broadcast);
    this.#options.onChange();
  }

  /** The relay is silent: what was received is no sign that its media arrives. */
  suspend(): void {
    this.#suspended = true;
    this.#unready();
  }

  /** The relay is silent no more. */
  resume(): void {
    this.#suspended = false;
    this.#options.onChange();
  }

  /** The size in which the camera is shown; `null`: not shown. `paused`: only because there is too much to receive. */
  show(size: Size | null, paused = false): void {
    const same = size?.width === this.#size?.width && size?.height === this.#size?.height;
    if (same && paused === this.videoPaused) return;
    this.videoPaused = paused;
    this.#size = size;
    this.#choose();
  }

  /** How loud all audio of the participant is in the mix of the room, 0 to 1; 0: not in it. */
  mix(volume: number): void {
    this.#volume = volume;
    for (const { sink } of this.#voices.values()) sink.blend(volume);
  }

  /** An owner muted the participant: no sound of it is subscribed, whatever its catalog says. SPEC rule MOD-15. */
  silence(on: boolean): void {
    if (on === this.#silenced) return;
    this.#silenced = on;
    this.#choose();
  }

  /** All shown media has arrived: relays can replace the mesh. A camera that is switched on later does not change this. */
  get ready(): boolean {
    if (this.#broadcast === null || this.#suspended || this.#catalog === null || this.otherKey) return false;
    const silentSince = this.#options.clock.now() - SILENT_MS;
    this.#ready ||=
      [...this.#pictures.values()].every(({ shown }) => shown) &&
      [...this.#voices.values()].every(({ received, since }) => received || since < silentSince);
    return this.#ready;
  }

  /** The media is encrypted with another key than ours, or only one of the two sides encrypts: nothing of it is played. */
  get otherKey(): boolean {
    return this.#broadcast !== null && this.#catalog !== null && !this.#opens(this.#catalog);
  }

  track(source: Source): MediaStreamTrack | null {
    return this.#pictures.get(source)?.sink.track ?? this.#voices.get(source)?.sink.track ?? null;
  }

  level(): number {
    return this.#voices.get('microphone')?.playback.player.level() ?? 0;
  }

  /**
   * Whether frames came late or not at all, or were too many to play, since the previous call; `null` without video. In a page that was blocked
   * pictures are late for that reason alone; a voice that is too late to be heard is trouble there too, as each picture takes time from it.
   */
  troubled(isBlocked: boolean): boolean | null {
    const lostOf = (media: ReadonlyMap<Source, Picture | Voice>): number =>
      [...media.values()].reduce((sum, { playback }) => sum + weighed(playback.player.counters), 0);
    const [pictures, voices] = [lostOf(this.#pictures), lostOf(this.#voices)];
    const before = this.#lost;
    this.#lost = { pictures, voices };
    if (this.#pictures.size === 0) return null;
    if (voices - before.voices >= MAX_LOST) return true;
    return !isBlocked && (pictures - before.pictures >= MAX_LOST || this.targetMs() >= LATE_MS);
  }

  targetMs(): number {
    return this.#playout.targetMs(this.#options.clock.now());
  }

  counts(): Count[] {
    const all = [...this.#pictures, ...this.#voices];
    return all.map(([source, { config, playback }]) => playback.player.counters.count(source, config));
  }

  close(): void {
    this.#catalogTrack?.close();
    for (const source of this.#pictures.keys()) this.#endPicture(source);
    for (const source of this.#voices.keys()) this.#endVoice(source);
  }

  #unready(): void {
    this.#ready = false;
    for (const picture of this.#pictures.values()) picture.shown = false;
    this.#options.onChange();
  }

  #startOver(instance: string): void {
    this.#instance = instance;
    this.#refused.clear();
    this.#catalog = null;
    this.#ready = false;
    this.#playout = new Playout();
    this.close();
    this.#catalogTrack = null;
  }

  #everything(): { readonly playback: TrackPlayback<Player> }[] {
    return [...this.#pictures.values(), ...this.#voices.values()];
  }

  #catalogReader(): Player {
    let newest = -1;
    return {
      onFrame: (group, index, bytes) => {
        this.#options.onReceived();
        const catalog = readCatalog(new TextDecoder().decode(bytes));
        if (catalog === undefined || index !== 0 || group <= newest) return;
        newest = group;
        this.#catalog = catalog;
        this.#choose();
      },
      onEnded: () => undefined,
      close: () => undefined,
    };
  }

  #choose(): void {
    const received = this.#catalog;
    if (received === null) return;
    const catalog = this.#opens(received) ? received : {};
    this.#choosePicture('camera', this.#size && chooseVideo(catalog, 'camera', this.#size));
    this.#choosePicture('screen', chooseVideo(catalog, 'screen', FULL));
    const sounds = this.#silenced ? {} : catalog;
    this.#chooseVoice('microphone', chooseAudio(sounds, 'microphone'));
    this.#chooseVoice('screen-audio', chooseAudio(sounds, 'screen-audio'));
    this.#options.onChange();
  }

  #opens({ seal }: Catalog): boolean {
    return (this.#options.keys()?.id ?? null) === (seal?.key ?? null);
  }

  #openerOf(track: string): FrameOpener | null {
    return this.#options.keys()?.opener(this.#options.participant, this.#instance, track) ?? null;
  }

  #choosePicture(source: Source, config: ReturnType<typeof chooseVideo> | null): void {
    const known = this.#pictures.get(source);
    if (!config || this.#refused.has(source)) {
      this.#endPicture(source);
      return;
    }
    if (known?.playback.name === config.track) {
      known.playback.player.setColors(config.colorSpace);
      return;
    }
    const { media, clock, onChange, onReceived } = this.#options;
    const sink = known?.sink ?? media.createPicture();
    const onShown = (): void => {
      onReceived();
      const picture = this.#pictures.get(source);
      if (picture?.playback !== playback) return;
      picture.before?.close();
      picture.before = null;
      if (picture.shown) return;
      picture.shown = true;
      onChange();
    };
    const onRefused = (): void => {
      this.#refused.add(source);
      this.#choose();
    };
    const player = new PicturePlayer({
      config,
      media,
      clock,
      sink,
      playout: this.#playout,
      onShown,
      onRefused,
    });
    const priority = PRIORITY[source === 'screen' ? 'screen' : 'camera'];
    const playback = new TrackPlayback(config.track, player, {
      priority,
      clock,
      opener: this.#openerOf(config.track),
    });
    known?.before?.close();
    this.#pictures.set(source, {
      config,
      sink,
      playback,
      before: known?.playback ?? null,
      shown: known?.shown ?? false,
    });
    if (this.#broadcast !== null) playback.read(this.#broadcast);
  }

  #chooseVoice(source: Source, config: ReturnType<typeof chooseAudio>): void {
    if (config === undefined) {
      this.#endVoice(source);
      return;
    }
    if (this.#voices.has(source)) return;
    const { media, voices, clock, onChange } = this.#options;
    const sink = voices.createVoice();
    sink.blend(this.#volume);
    const onVoice = (): void => {
      const voice = this.#voices.get(source);
      if (voice?.sink !== sink) return;
      voice.received = true;
      onChange();
    };
    const player = new VoicePlayer({
      config,
      media,
      clock,
      sink,
      playout: this.#playout,
      onReceived: onVoice,
    });
    const playback = new TrackPlayback(config.track, player, {
      priority: PRIORITY.voice,
      clock,
      opener: this.#openerOf(config.track),
    });
    this.#voices.set(source, { config, sink, playback, since: clock.now(), received: false });
    if (this.#broadcast !== null) playback.read(this.#broadcast);
  }

  #endPicture(source: Source): void {
    const picture = this.#pictures.get(source);
    this.#pictures.delete(source);
    picture?.before?.close();
    picture?.playback.close();
    picture?.sink.close();
  }

  #endVoice(source: Source): void {
    const voice = this.#voices.get(source);
    this.#voices.delete(source);
    voice?.playback.close();
    voice?.sink.close();
  }
}
