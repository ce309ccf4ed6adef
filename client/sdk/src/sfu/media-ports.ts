/** What relayed media needs from the browser. `browser-media.ts` implements it and is loaded with this code at first use. */

export interface MediaPorts extends PageMedia {
  /** Available only in secure contexts, like codecs. */
  readonly subtle: SubtleCrypto;
  readonly VideoEncoder: typeof VideoEncoder;
  readonly VideoDecoder: typeof VideoDecoder;
  readonly AudioEncoder: typeof AudioEncoder;
  readonly AudioDecoder: typeof AudioDecoder;
  readonly AudioData: typeof AudioData;
  readonly EncodedVideoChunk: typeof EncodedVideoChunk;
  readonly EncodedAudioChunk: typeof EncodedAudioChunk;
  readonly readAudio: (track: MediaStreamTrack, onSound: (sound: Sound) => void) => Closeable;
  readonly createVoices: () => Voices;
}

/** What a page implements with its elements if the browser has no API for it. */
export interface PageMedia {
  /** Reads every frame of a track; `onFrame` closes it. */
  readonly readVideo: (track: MediaStreamTrack, onFrame: (frame: VideoFrame) => void) => Closeable;
  /** A new track, which shows nothing yet. Throws where the browser has no canvas with a picture. */
  readonly createPicture: () => PictureSink;
}

/** Something that holds a resource. */
export interface Closeable {
  /** Releases it. */
  close(): void;
}

/** A block of one channel, some hundredths of a second long. */
export interface Sound {
  readonly samples: Float32Array<ArrayBuffer>;
  readonly sampleRate: number;
  /** Microseconds, from an origin of the device. */
  readonly timestamp: number;
}

/** A track that shows the frames that are put into it. */
export interface PictureSink extends Closeable {
  readonly track: MediaStreamTrack;
  /** Shows the frame and closes it. */
  show(frame: VideoFrame): void;
}

/** The voices of a room: each in its own track, and selected ones in one mixed stream. */
export interface Voices extends Closeable {
  readonly mix: MediaStream;
  createVoice(): VoiceSink;
}

export interface VoiceSink extends Closeable {
  readonly track: MediaStreamTrack;
  /** How loud the voice is in the mix, 0 to 1; 0, as initially: not in it. */
  blend(volume: number): void;
  /**
   * `at`: on the monotonic clock of the ports, in ms. Returns whether the audio is played, then or after what is already playing; quiet blocks may
   * be skipped to make up for delay.
   */
  play(sound: Omit<Sound, 'timestamp'>, at: number, quiet: boolean): boolean;
}
