/**
 * Parses one MPEG-TS, and passes on the packets of one video and one audio track, after tables that announce only these. The player gets no private
 * data, no second program and no endless frame.
 */
import {
  announcedCodec,
  isAudio,
  isVideo,
  mpegAudioLayer,
  type AnnouncedCodec,
  type AudioCodec,
  type VideoCodec,
} from './codecs.ts';
import { joined, Packets, readPacket, PACKET_BYTES, type Packet } from './packets.ts';
import { readAssociation, readMap, Section, writeTables, type ProgramMap, type Track } from './tables.ts';

export interface Program {
  readonly video: { readonly codec: VideoCodec; readonly track: Track } | null;
  readonly audio: { readonly codec: AudioCodec; readonly track: Track } | null;
  readonly clockPid: number;
}

export type Part =
  /** A new program, or a restart of the same one because its clock jumped. Earlier data is obsolete. */
  | { readonly what: 'program'; readonly program: Program }
  /** Complete packets of the program. */
  | { readonly what: 'packets'; readonly bytes: Uint8Array<ArrayBuffer> };

/** Data that is buffered while a codec is unknown: some seconds of 4 Mbps. */
const MAX_BUFFERED_BYTES = 2 ** 21;
/** Announced audio that does not arrive delays the video for at most a second of 1 Mbps, and then counts as MP2, the most common codec. */
const MAX_AUDIO_WAIT_BYTES = 2 ** 17;
/** Enough of a track to find its first header. */
const MAX_DETECTION_BYTES = 2 ** 17;
/** An endless frame would grow in a player without limit; the largest message of the relay is 10 MiB. */
const MAX_FRAME_BYTES = 10 * 2 ** 20;
/** Clock references come at least every 0.1 s; a player handles a gap of one or two seconds. */
const MAX_CLOCK_GAP_SECONDS = 3;

export class ProgramReader {
  /** Lost packets, from the continuity counters. */
  gaps = 0;
  readonly #packets = new Packets();
  readonly #association = new Section();
  #mapPid: number | null = null;
  readonly #mapSection = new Section();
  #map: ProgramMap | null = null;
  #mapText = '';
  readonly #detectors = new Map<number, CodecDetector>();
  #program: Program | null = null;
  #buffered: Uint8Array[] = [];
  #bufferedBytes = 0;
  readonly #frames = new Map<number, number>();
  readonly #counters = new Map<number, number>();
  #clock: number | null = null;

  push(bytes: Uint8Array): readonly Part[] {
    const parts: Part[] = [];
    const kept: Uint8Array[] = [];
    const flush = (): void => {
      if (kept.length > 0) parts.push({ what: 'packets', bytes: joined(...kept.splice(0)) });
    };
    for (const run of this.#packets.push(bytes))
      for (let at = 0; at < run.length; at += PACKET_BYTES) {
        const raw = run.subarray(at, at + PACKET_BYTES);
        const packet = readPacket(raw);
        this.#readTables(packet);
        if (!this.#map || !this.#isOfInterest(packet.pid)) continue;
        if (this.#jumped(packet)) this.#restart(this.#map);
        this.#count(packet);
        if (this.#program) {
          if (this.#isFrameWithinLimit(packet)) kept.push(raw);
          continue;
        }
        this.#buffer(raw);
        this.#program = this.#select(packet);
        if (this.#program) {
          flush();
          parts.push({ what: 'program', program: this.#program });
          kept.push(...this.#takeBuffered());
        }
      }
    flush();
    return parts;
  }

  #readTables(packet: Packet): void {
    if (packet.pid === 0) {
      const section = this.#association.push(packet);
      if (section) this.#mapPid = readAssociation(section) ?? this.#mapPid;
    } else if (packet.pid === this.#mapPid) {
      const section = this.#mapSection.push(packet);
      // The version shows changes; the bytes do too if a sender does not update the version.
      const text = section?.subarray(8).join();
      if (!section || text === undefined || text === this.#mapText) return;
      this.#mapText = text;
      this.#map = readMap(section);
      this.#clock = null;
      this.#restart(this.#map);
    }
  }

  #restart(map: ProgramMap): void {
    this.#program = null;
    this.#buffered = [];
    this.#bufferedBytes = 0;
    this.#counters.clear();
    this.#detectors.clear();
    for (const wanted of [isVideo, isAudio]) {
      const track = map.tracks.find((track) => wanted(announcedCodec(track)));
      if (track) this.#detectors.set(track.pid, new CodecDetector(track));
    }
  }

  #isOfInterest(pid: number): boolean {
    return this.#detectors.has(pid) || pid === this.#map?.clockPid;
  }

  #count({ pid, counter, payload }: Packet): void {
    const last = this.#counters.get(pid);
    // A packet without payload is not counted, and any packet may be repeated.
    if (payload.length === 0) return;
    if (last !== undefined && counter !== last) this.gaps += (counter - last - 1) & 0xf;
    this.#counters.set(pid, counter);
  }

  #jumped({ clock }: Packet): boolean {
    if (clock === null) return false;
    const before = this.#clock;
    this.#clock = clock;
    return before !== null && (clock < before || clock > before + MAX_CLOCK_GAP_SECONDS);
  }

  #isFrameWithinLimit({ pid, starts, payload }: Packet): boolean {
    const size = (starts ? 0 : (this.#frames.get(pid) ?? 0)) + payload.length;
    this.#frames.set(pid, size);
    return size <= MAX_FRAME_BYTES;
  }

  #buffer(raw: Uint8Array): void {
    if (this.#bufferedBytes >= MAX_BUFFERED_BYTES) {
      this.#buffered = [];
      this.#bufferedBytes = 0;
    }
    // A copy, because the message behind the view may be large.
    this.#buffered.push(raw.slice());
    this.#bufferedBytes += raw.length;
  }

  #takeBuffered(): readonly Uint8Array[] {
    this.#bufferedBytes = 0;
    return this.#buffered.splice(0);
  }

  #select(packet: Packet): Program | null {
    const detectors = [...this.#detectors.values()];
    this.#detectors.get(packet.pid)?.push(packet);
    const mayStillArrive = (detector: CodecDetector): boolean =>
      detector.codec === undefined && this.#bufferedBytes < MAX_AUDIO_WAIT_BYTES;
    const video = detectors.find(({ track }) => isVideo(announcedCodec(track)));
    const audio = detectors.find(({ track }) => isAudio(announcedCodec(track)));
    if (!this.#map || (video && video.codec === undefined) || (audio && mayStillArrive(audio))) return null;
    return {
      video: video ? { codec: video.codec as VideoCodec, track: video.track } : null,
      audio: audio ? { codec: (audio.codec ?? 'mp2') as AudioCodec, track: audio.track } : null,
      clockPid: this.#map.clockPid,
    };
  }
}

/** Reads the start of a track until its codec is known. */
class CodecDetector {
  codec: AnnouncedCodec | undefined;
  readonly track: Track;
  #start: Uint8Array = new Uint8Array();

  constructor(track: Track) {
    this.track = track;
    const codec = announcedCodec(track);
    if (codec !== 'mpeg-audio') this.codec = codec;
  }

  push({ starts, payload }: Packet): void {
    if (this.codec !== undefined) return;
    if (starts || this.#start.length > MAX_DETECTION_BYTES) this.#start = new Uint8Array();
    this.#start = joined(this.#start, payload);
    this.codec = mpegAudioLayer(this.#start);
  }
}

/** The tables for a player that gets only some of the tracks. */
export function tablesOf(program: Program, tracks: readonly Track[]): Uint8Array<ArrayBuffer> {
  return writeTables({ clockPid: program.clockPid, tracks });
}
