/** MPEG-1 with MP2, as lab cameras send it, by JSMpeg's decoders: no browser has them. They are put together here without its player. */
import JSMpeg from '@cycjimmy/jsmpeg-player';
import type { Picture, PictureOptions } from './picture.ts';

const VIDEO_STREAM = 0xe0;
const AUDIO_STREAM = 0xc0;
/** A second of 16 Mbps. When it is full the decoder throws it away and goes on with what comes. */
const VIDEO_BUFFER_BYTES = 2 ** 21;
const AUDIO_BUFFER_BYTES = 2 ** 17;
/** Of one animation frame: a decoder that has fallen behind catches up in this, and leaves the rest to the page. */
const DECODE_MS = 12;
const START_CODE_BITS = 32;
/** Sound that waits longer than this is dropped. */
const SOUND_LAG_S = 0.25;

export function mpeg1Picture({ sound, onTrouble }: PictureOptions): Picture {
  const canvas = document.createElement('canvas');
  const demuxer = new JSMpeg.Demuxer.TS({});
  const video = new JSMpeg.Decoder.MPEG1Video({ streaming: true, videoBufferSize: VIDEO_BUFFER_BYTES });
  const renderer = JSMpeg.Renderer.WebGL.IsSupported()
    ? new JSMpeg.Renderer.WebGL({ canvas, preserveDrawingBuffer: true })
    : new JSMpeg.Renderer.Canvas2D({ canvas });
  let frames = 0;
  video.connect({
    resize: (width, height) => renderer.resize(width, height),
    render(...planes) {
      frames += 1;
      renderer.render(...planes);
    },
  });
  demuxer.connect(VIDEO_STREAM, video);
  const speaker = sound ? new Speaker(demuxer) : null;

  let animation = requestAnimationFrame(decode);

  function decode(): void {
    animation = requestAnimationFrame(decode);
    const until = performance.now() + DECODE_MS;
    try {
      // It also answers `false` at headers between two pictures.
      while ((video.decode() || video.bits.has(START_CODE_BITS)) && performance.now() < until);
      speaker?.decode();
    } catch (error) {
      cancelAnimationFrame(animation);
      onTrouble(String(error));
    }
  }

  return {
    element: canvas,
    feed(packets) {
      try {
        demuxer.write(packets);
      } catch (error) {
        onTrouble(String(error));
      }
    },
    seen: () => ({
      width: video.width ?? 0,
      height: video.height ?? 0,
      frames,
      dropped: null,
      lag: null,
    }),
    setSound: (on) => speaker?.set(on) ?? Promise.resolve(false),
    close() {
      cancelAnimationFrame(animation);
      speaker?.close();
      renderer.destroy?.();
      canvas.remove();
    },
  };
}

/** Decodes nothing while it is off. */
class Speaker {
  readonly #decoder = new JSMpeg.Decoder.MP2Audio({ streaming: true, audioBufferSize: AUDIO_BUFFER_BYTES });
  #output: InstanceType<typeof JSMpeg.AudioOutput.WebAudio> | null = null;
  #on = false;

  constructor(demuxer: InstanceType<typeof JSMpeg.Demuxer.TS>) {
    demuxer.connect(AUDIO_STREAM, this.#decoder);
  }

  async set(on: boolean): Promise<boolean> {
    this.#on = on;
    if (on && !this.#output) {
      this.#output = new JSMpeg.AudioOutput.WebAudio({});
      this.#decoder.connect(this.#output);
    }
    if (!this.#output) return true;
    this.#output.enabled = on;
    if (on) await this.#output.context.resume();
    return !on || this.#output.context.state === 'running';
  }

  decode(): void {
    if (!this.#on || !this.#output) return;
    if (this.#output.enqueuedTime > SOUND_LAG_S) {
      this.#output.resetEnqueuedTime();
      this.#output.enabled = false;
    }
    while (this.#decoder.decode());
    this.#output.enabled = true;
  }

  close(): void {
    this.#output?.destroy();
  }
}
