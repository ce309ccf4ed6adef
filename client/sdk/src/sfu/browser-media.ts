/** The media ports of a browser. If a newer API is missing, an older one or the page does the same at a higher cost. */
import { scheduleStart } from './audio-schedule.ts';
import type {
  Closeable,
  MediaPorts,
  PageMedia,
  PictureSink,
  Sound,
  Voices,
  VoiceSink,
} from './media-ports.ts';
import { downmix } from './downmix.ts';

export function browserMedia(page: PageMedia): MediaPorts {
  return {
    subtle: globalThis.crypto.subtle,
    VideoEncoder: globalThis.VideoEncoder,
    VideoDecoder: globalThis.VideoDecoder,
    AudioEncoder: globalThis.AudioEncoder,
    AudioDecoder: globalThis.AudioDecoder,
    AudioData: globalThis.AudioData,
    EncodedVideoChunk: globalThis.EncodedVideoChunk,
    EncodedAudioChunk: globalThis.EncodedAudioChunk,
    readVideo: 'MediaStreamTrackProcessor' in globalThis ? processVideo : page.readVideo,
    readAudio: 'MediaStreamTrackProcessor' in globalThis ? processAudio : tapAudio,
    createPicture: 'MediaStreamTrackGenerator' in globalThis ? generatePicture : page.createPicture,
    createVoices,
  };
}

/** Chromium has both in pages; the standard, and Safari, only in workers. */
declare class MediaStreamTrackProcessor<Data> {
  constructor(init: { readonly track: MediaStreamTrack; readonly maxBufferSize?: number });
  readonly readable: ReadableStream<Data>;
}
declare class MediaStreamTrackGenerator extends MediaStreamTrack {
  constructor(init: { readonly kind: 'video' });
  readonly writable: WritableStream<VideoFrame>;
}

/** The blocks of audio that are kept while the page is busy; of video frames only the newest. */
const SOUND_BLOCKS = 20;
const PICTURES = 2;
const BLOCK_SAMPLES = 1024;

function processVideo(track: MediaStreamTrack, onFrame: (frame: VideoFrame) => void): Closeable {
  // A clone: the caller may stop its track, and ours ends with this reader.
  const own = track.clone();
  const { readable } = new MediaStreamTrackProcessor<VideoFrame>({ track: own, maxBufferSize: PICTURES });
  return readTo(own, readable.getReader(), onFrame);
}

function processAudio(track: MediaStreamTrack, onSound: (sound: Sound) => void): Closeable {
  const own = track.clone();
  const { readable } = new MediaStreamTrackProcessor<AudioData>({ track: own, maxBufferSize: SOUND_BLOCKS });
  return readTo(own, readable.getReader(), (data) => {
    const { sampleRate, timestamp } = data;
    const samples = downmix(data);
    data.close();
    onSound({ samples, sampleRate, timestamp });
  });
}

function readTo<Data extends Closeable>(
  own: MediaStreamTrack,
  reader: ReadableStreamDefaultReader<Data>,
  onData: (data: Data) => void,
): Closeable {
  let closed = false;
  const read = async (): Promise<void> => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      if (closed) value.close();
      else onData(value);
    }
  };
  read().catch(() => undefined);
  return {
    close: () => {
      closed = true;
      reader.cancel().catch(() => undefined);
      own.stop();
    },
  };
}

function tapAudio(track: MediaStreamTrack, onSound: (sound: Sound) => void): Closeable {
  const { source, end } = streamSource(new MediaStream([track]));
  const { context } = source;
  // Deprecated, but available in every browser without MediaStreamTrackProcessor; a worklet would be one more file to deliver.
  const tap = context.createScriptProcessor(BLOCK_SAMPLES, 1, 1);
  tap.addEventListener('audioprocess', ({ inputBuffer, playbackTime }) => {
    const samples = inputBuffer.getChannelData(0).slice();
    onSound({ samples, sampleRate: inputBuffer.sampleRate, timestamp: playbackTime * 1_000_000 });
  });
  source.connect(tap);
  tap.connect(context.destination);
  return {
    close: () => {
      source.disconnect();
      tap.disconnect();
      end();
    },
  };
}

interface StreamSource {
  readonly source: MediaStreamAudioSourceNode;
  readonly end: () => void;
}

/**
 * Older versions of Firefox deliver no audio to a context if it is captured at another rate than that of the context (bug 1674892), for example
 * from a headset; a context without an explicit rate has the rate of the devices.
 */
function streamSource(stream: MediaStream): StreamSource {
  try {
    return { source: audioContext().createMediaStreamSource(stream), end: () => undefined };
  } catch {
    const own = new AudioContext({ latencyHint: 'interactive' });
    const end = (): void => void own.close().catch(() => undefined);
    try {
      const source = own.createMediaStreamSource(stream);
      if (own.state === 'suspended') own.resume().catch(() => undefined);
      return { source, end };
    } catch (error) {
      end();
      throw error;
    }
  }
}

function generatePicture(): PictureSink {
  const track = new MediaStreamTrackGenerator({ kind: 'video' });
  const writer = track.writable.getWriter();
  return {
    track,
    // The writer closes the frame. Rejected only after the track was stopped.
    show: (frame) => void writer.write(frame).catch(() => frame.close()),
    close: () => {
      writer.close().catch(() => undefined);
      track.stop();
    },
  };
}

// One context for all participants: browsers allow only a few.
let shared: AudioContext | undefined;

function audioContext(): AudioContext {
  shared ??= new AudioContext({ latencyHint: 'interactive', sampleRate: 48_000 });
  if (shared.state === 'suspended') shared.resume().catch(() => undefined);
  return shared;
}

function createVoices(): Voices {
  const context = audioContext();
  const mix = context.createMediaStreamDestination();
  return {
    mix: mix.stream,
    createVoice: () => createVoice(context, mix),
    close: () => mix.stream.getTracks().forEach((track) => track.stop()),
  };
}

function createVoice(context: AudioContext, mix: AudioNode): VoiceSink {
  const destination = context.createMediaStreamDestination();
  const [track] = destination.stream.getAudioTracks();
  if (track === undefined) throw new Error('a destination has a track');
  const voice = context.createGain();
  voice.connect(destination);
  const share = context.createGain();
  voice.connect(share);
  let blended = 0;
  let until = 0;
  const blend = (volume: number): void => {
    share.gain.value = volume;
    if (blended === 0 && volume > 0) share.connect(mix);
    else if (blended > 0 && volume === 0) share.disconnect(mix);
    blended = volume;
  };
  return {
    track,
    blend,
    play: ({ samples, sampleRate }, at, quiet) => {
      const now = audioContext().currentTime;
      const begins = scheduleStart({ wanted: now + (at - performance.now()) / 1000, now, until, quiet });
      if (begins === null) return false;
      const buffer = context.createBuffer(1, samples.length, sampleRate);
      buffer.copyToChannel(samples, 0);
      const source = context.createBufferSource();
      source.buffer = buffer;
      source.connect(voice);
      source.start(begins);
      until = begins + buffer.duration;
      return true;
    },
    close: () => {
      blend(0);
      voice.disconnect();
      track.stop();
    },
  };
}
