/**
 * A slate: a camera that shows a clock and flashes on each full second, and a microphone that sounds during each flash. Another page reads both
 * and so measures the latency of pictures and sounds from glass to glass, and the offset between them. All pages are on one machine, with one
 * clock.
 */
import type { Page } from 'playwright-core';

export interface Slate {
  readonly of: string;
  /** From the drawing of each picture to its display, ms. */
  readonly pictureMs: readonly number[];
  /** From each full second to its sound, ms. */
  readonly soundMs: readonly number[];
  /** How long each sound was played after its flash, ms; negative: before it. */
  readonly apartMs: readonly number[];
  /** Times for which no new picture was shown, from half a second on; infinite before the first one. Without those in which the tile says why. */
  readonly freezesMs: readonly number[];
  /** How long the tile said that its video is paused, ms. */
  readonly pausedMs: number;
}

/** What the functions below keep on `globalThis` of a page. A page receives each of them as text, so they share nothing else. */
interface PageScope {
  parleySeeSlates(reader: Reader, video: HTMLVideoElement | null): void;
  parleyHearSlates(reader: Reader, voice: HTMLAudioElement | null): void;
  parleySlates(): Slate[];
}

/** What a page has read of one slate. */
interface Reader {
  readonly pictureMs: number[];
  readonly soundMs: number[];
  readonly freezesMs: number[];
  /** Since when the tile has said that its video is paused. */
  pausedAt: number | null;
  pausedMs: number;
  /** By second: how long after its drawing the flash was shown. */
  readonly flashes: Map<number, number>;
  /** By second: how long after it the sound was played. */
  readonly tones: Map<number, number>;
  video: HTMLVideoElement | null;
  shownAt: number | null;
  track: MediaStreamTrack | null;
  source: MediaStreamAudioSourceNode | null;
  analyser: AnalyserNode | null;
  lookedAt: number;
  loudAt: number;
}

/** From now on the page reads the slate of each participant whose tile it shows. */
export async function readSlates(page: Page): Promise<void> {
  await page.evaluate(preparePictures);
  await page.evaluate(prepareSounds);
  await page.evaluate(beginToRead);
}

/** What the page has read since the last call, or since `readSlates`. The page forgets it. */
export function slates(page: Page): Promise<Slate[]> {
  return page.evaluate(() => (globalThis as unknown as PageScope).parleySlates());
}

/** Runs in the page, before its own scripts: replaces its camera and microphone by a slate. */
export function holdSlate({ width, height }: { readonly width: number; readonly height: number }): void {
  const devices = globalThis.navigator.mediaDevices as MediaDevices | undefined;
  if (!devices) return;
  const framesPerSecond = 24;
  const flashMs = 100;
  const [columns, rows, bits] = [8, 4, 20];
  const wall = (): number => performance.timeOrigin + performance.now();

  const camera = (): MediaStreamTrack[] => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext('2d');
    const draw = (): void => {
      if (context === null) return;
      const now = Math.round(wall());
      const clock = now % 2 ** bits;
      const check = (clock % 61) + 1;
      const flash = now % 1000 < flashMs ? 2 ** 6 : 0;
      const shown = clock + (check + flash) * 2 ** bits;
      for (let at = 0; at < columns * rows; at += 1) {
        context.fillStyle = Math.floor(shown / 2 ** at) % 2 === 1 ? '#fff' : '#000';
        const [column, row] = [at % columns, Math.floor(at / columns)];
        const [x, y] = [Math.round((column * width) / columns), Math.round((row * height) / rows)];
        context.fillRect(x, y, Math.ceil(width / columns), Math.ceil(height / rows));
      }
    };
    draw();
    setInterval(draw, 1000 / framesPerSecond);
    return canvas.captureStream(framesPerSecond).getVideoTracks();
  };

  const microphone = (): MediaStreamTrack[] => {
    const context = new AudioContext();
    const [tone, volume] = [context.createOscillator(), context.createGain()];
    const destination = context.createMediaStreamDestination();
    tone.frequency.value = 1000;
    volume.gain.value = 0;
    tone.connect(volume).connect(destination);
    tone.start();
    let planned = 0;
    setInterval(() => {
      const second = Math.ceil((wall() + flashMs) / 1000);
      if (second === planned || context.state !== 'running') return;
      planned = second;
      const begins = context.currentTime + (second * 1000 - wall()) / 1000;
      volume.gain.setValueAtTime(0.5, begins);
      volume.gain.setValueAtTime(0, begins + flashMs / 1000);
    }, 100);
    return destination.stream.getAudioTracks();
  };
  devices.getUserMedia = ({ audio, video } = {}) =>
    Promise.resolve(new MediaStream([...(video ? camera() : []), ...(audio ? microphone() : [])]));
}

/** Runs in the page: how it reads the pictures of a slate. */
function preparePictures(): void {
  const [columns, rows, bits] = [8, 4, 20];
  /** The width and height of a block in pixels; only the middle pixel is read. */
  const fine = 4;
  const freezeMs = 500;
  const canvas = new OffscreenCanvas(columns * fine, rows * fine);
  const screen = canvas.getContext('2d', { willReadFrequently: true });

  const readClock = (video: HTMLVideoElement): { clock: number; flash: boolean } | null => {
    if (screen === null) return null;
    screen.imageSmoothingQuality = 'high';
    screen.drawImage(video, 0, 0, canvas.width, canvas.height);
    const { data } = screen.getImageData(0, 0, canvas.width, canvas.height);
    let shown = 0;
    for (let at = columns * rows - 1; at >= 0; at -= 1) {
      const [column, row] = [at % columns, Math.floor(at / columns)];
      const pixel = (row * fine + fine / 2) * canvas.width + column * fine + fine / 2;
      shown = shown * 2 + ((data[pixel * 4 + 1] ?? 0) > 127 ? 1 : 0);
    }
    const clock = shown % 2 ** bits;
    const rest = Math.floor(shown / 2 ** bits);
    return rest % 2 ** 6 === (clock % 61) + 1 ? { clock, flash: Math.floor(rest / 2 ** 6) === 1 } : null;
  };

  const see = (reader: Reader, video: HTMLVideoElement, displayed: number): void => {
    const at = performance.timeOrigin + displayed;
    if (reader.shownAt !== null && at - reader.shownAt >= freezeMs)
      reader.freezesMs.push(at - reader.shownAt);
    reader.shownAt = at;
    const read = readClock(video);
    if (read === null) return;
    const drawn = at - ((((at - read.clock) % 2 ** bits) + 2 ** bits) % 2 ** bits);
    reader.pictureMs.push(at - drawn);
    const second = Math.floor(drawn / 1000);
    if (read.flash && !reader.flashes.has(second)) reader.flashes.set(second, at - drawn);
  };

  (globalThis as unknown as PageScope).parleySeeSlates = (reader, video) => {
    if (video === null || video === reader.video) return;
    reader.video = video;
    const next = (_now: number, { expectedDisplayTime }: VideoFrameCallbackMetadata): void => {
      if (video !== reader.video) return;
      see(reader, video, expectedDisplayTime);
      video.requestVideoFrameCallback(next);
    };
    video.requestVideoFrameCallback(next);
  };
}

/** Runs in the page: how it reads the sounds of a slate. */
function prepareSounds(): void {
  const audible = 0.1;
  const quietMs = 300;
  const wall = (): number => performance.timeOrigin + performance.now();
  const sound = new AudioContext();

  const createAnalyser = (): AnalyserNode => {
    const analyser = sound.createAnalyser();
    analyser.fftSize = 32_768;
    return analyser;
  };

  const hear = (reader: Reader, analyser: AnalyserNode): void => {
    const samples = new Float32Array(analyser.fftSize);
    analyser.getFloatTimeDomainData(samples);
    const now = wall();
    const unread = Math.min(samples.length, Math.ceil(((now - reader.lookedAt) / 1000) * sound.sampleRate));
    reader.lookedAt = now;
    for (let nth = samples.length - unread; nth < samples.length; nth += 1) {
      if (Math.abs(samples[nth] ?? 0) < audible) continue;
      const at = now - ((samples.length - nth) / sound.sampleRate) * 1000;
      if (at - reader.loudAt > quietMs) {
        const second = Math.floor(at / 1000);
        reader.soundMs.push(at - second * 1000);
        reader.tones.set(second, at - second * 1000);
      }
      reader.loudAt = at;
    }
  };

  (globalThis as unknown as PageScope).parleyHearSlates = (reader, voice) => {
    reader.analyser ??= createAnalyser();
    const track = voice?.srcObject instanceof MediaStream ? voice.srcObject.getAudioTracks()[0] : undefined;
    if (track !== undefined && track !== reader.track) {
      reader.source?.disconnect();
      reader.source = sound.createMediaStreamSource(new MediaStream([track]));
      reader.source.connect(reader.analyser);
      reader.track = track;
    }
    hear(reader, reader.analyser);
  };
}

/** Runs in the page, after `preparePictures` and `prepareSounds`. */
function beginToRead(): void {
  const freezeMs = 500;
  const lookEveryMs = 100;
  const wall = (): number => performance.timeOrigin + performance.now();
  const scope = globalThis as unknown as PageScope;
  const readers = new Map<string, Reader>();

  const createReader = (): Reader => ({
    pictureMs: [],
    soundMs: [],
    freezesMs: [],
    pausedAt: null,
    pausedMs: 0,
    flashes: new Map(),
    tones: new Map(),
    video: null,
    shownAt: null,
    track: null,
    source: null,
    analyser: null,
    lookedAt: wall(),
    loudAt: wall(),
  });
  const readPause = (reader: Reader, isPaused: boolean): void => {
    const now = wall();
    if (isPaused && reader.pausedAt === null && reader.shownAt !== null && now - reader.shownAt >= freezeMs)
      reader.freezesMs.push(now - reader.shownAt);
    if (reader.pausedAt !== null) {
      reader.pausedMs += now - reader.pausedAt;
      reader.shownAt = now;
    }
    reader.pausedAt = isPaused ? now : null;
  };

  setInterval(() => {
    for (const tile of document.querySelectorAll<HTMLElement>('[data-testid=tile]:not([data-self])')) {
      const of = tile.dataset['participant'] ?? '';
      const reader = readers.get(of) ?? createReader();
      readers.set(of, reader);
      readPause(reader, tile.querySelector('.tile-note')?.textContent === 'Video paused');
      scope.parleySeeSlates(reader, tile.querySelector('video'));
      scope.parleyHearSlates(reader, document.querySelector(`[data-testid=voice][data-of="${of}"]`));
    }
  }, lookEveryMs);

  const take = ([of, reader]: [string, Reader]): Slate => {
    const { flashes, tones, shownAt, pausedMs } = reader;
    const still = shownAt === null ? Number.POSITIVE_INFINITY : wall() - shownAt;
    reader.pausedMs = 0;
    const slate = {
      of,
      pictureMs: reader.pictureMs.splice(0),
      soundMs: reader.soundMs.splice(0),
      freezesMs: [...reader.freezesMs.splice(0), ...(still >= freezeMs ? [still] : [])],
      pausedMs,
      apartMs: [...tones].flatMap(([second, toneMs]) => {
        const flashMs = flashes.get(second);
        return flashMs === undefined ? [] : [toneMs - flashMs];
      }),
    };
    flashes.clear();
    tones.clear();
    return slate;
  };
  scope.parleySlates = () => [...readers].map(take);
}
