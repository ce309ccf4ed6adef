/** The parts of JSMpeg that are used here: its package has no types. */
declare module '@cycjimmy/jsmpeg-player' {
  type Planes = [y: Uint8ClampedArray, cr: Uint8ClampedArray, cb: Uint8ClampedArray, clamped: boolean];

  interface Screen {
    resize(width: number, height: number): void;
    render(...planes: Planes): void;
  }

  class Renderer implements Screen {
    constructor(options: { canvas: HTMLCanvasElement; preserveDrawingBuffer?: boolean });
    static IsSupported(): boolean;
    resize(width: number, height: number): void;
    render(...planes: Planes): void;
    destroy(): void;
  }

  class Demuxer {
    constructor(options: object);
    connect(stream: number, decoder: object): void;
    write(packets: Uint8Array): void;
  }

  class VideoDecoder {
    constructor(options: { streaming: boolean; videoBufferSize: number });
    readonly width?: number;
    readonly height?: number;
    /** What waits to be decoded. */
    readonly bits: { has(bits: number): boolean };
    connect(screen: Screen): void;
    decode(): boolean;
  }

  class Speaker {
    constructor(options: object);
    readonly context: AudioContext;
    readonly enqueuedTime: number;
    enabled: boolean;
    resetEnqueuedTime(): void;
    destroy(): void;
  }

  class AudioDecoder {
    constructor(options: { streaming: boolean; audioBufferSize: number });
    connect(speaker: Speaker): void;
    decode(): boolean;
  }

  const JSMpeg: {
    readonly Demuxer: { readonly TS: typeof Demuxer };
    readonly Decoder: { readonly MPEG1Video: typeof VideoDecoder; readonly MP2Audio: typeof AudioDecoder };
    readonly Renderer: { readonly WebGL: typeof Renderer; readonly Canvas2D: typeof Renderer };
    readonly AudioOutput: { readonly WebAudio: typeof Speaker };
  };
  export { JSMpeg as default };
}
