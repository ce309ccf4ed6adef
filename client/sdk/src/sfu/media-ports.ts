/** What relayed media takes from the browser. `browser-media.ts` builds it, loaded with everything else here when it is first needed. */

export interface MediaPorts {
  /** Only in secure contexts, as codecs are. */
  readonly subtle: SubtleCrypto;
  readonly VideoEncoder: typeof VideoEncoder;
  readonly VideoDecoder: typeof VideoDecoder;
  readonly AudioEncoder: typeof AudioEncoder;
  readonly AudioDecoder: typeof AudioDecoder;
  readonly AudioData: typeof AudioData;
  readonly EncodedVideoChunk: typeof EncodedVideoChunk;
  readonly EncodedAudioChunk: typeof EncodedAudioChunk;
  /** Every picture of a track; `onFrame` closes it. */
  readonly readVideo: (track: MediaStreamTrack, onFrame: (frame: VideoFrame) => void) => Closeable;
  readonly readAudio: (track: MediaStreamTrack, onSound: (sound: Sound) => void) => Closeable;
  readonly createPicture: () => PictureSink;
  readonly createVoices: () => Voices;
}

/** What a page does with its elements where its browser does not do it without. */
export type PageMedia = Pick<MediaPorts, 'readVideo' | 'createPicture'>;

export interface Closeable {
  close(): void;
}

/** Some hundredths of a second of one channel. */
export interface Sound {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly sampleRate: number;
  /** Microseconds, from a beginning of the device's own. */
  readonly timestamp: number;
}

/** A track that shows what is put into it. */
export interface PictureSink extends Closeable {
  readonly track: MediaStreamTrack;
  /** Takes the frame and closes it. */
  show(frame: VideoFrame): void;
}

/** The voices of a room: each in a track of its own, and in one stream whoever is to be heard in it. */
export interface Voices extends Closeable {
  readonly mix: MediaStream;
  createVoice(): VoiceSink;
}

export interface VoiceSink extends Closeable {
  readonly track: MediaStreamTrack;
  /** In the mix or not; at first not. */
  blend(on: boolean): void;
  /** `at`: on the monotonic clock of the ports, in ms. Whether it is played, then or behind what is playing; quiet sounds make up for delay. */
  play(sound: Omit<Sound, 'timestamp'>, at: number, quiet: boolean): boolean;
}
