/** Measures the voices that a page receives, by whichever path: the fake microphone of each browser beeps twice a second. */

import type { AnyPage } from './any-page.ts';

export interface ReceivedVoice {
  readonly of: string;
  readonly beeps: number;
  /** The total time with sound, in ms. */
  readonly audibleMs: number;
  /** The longest time between two beeps, or since the last one, in ms. */
  readonly silentMs: number;
}

/** The output of the loudspeaker. */
export interface PlayedSound extends Omit<ReceivedVoice, 'of'> {
  /** Elements that play now: `mix`, or the participant whose voice it is. */
  readonly elements: readonly string[];
}

/** What the functions below keep on `globalThis` of a page. A page receives each of them as text, so they share nothing else. */
interface PageScope {
  parleyMeters: Meters;
  parleyVoices(): ReceivedVoice[];
  parleyPlayback(): PlayedSound;
}

/** Measures the sound of tracks that it is connected to. */
interface Meter {
  readonly sources: Map<MediaStreamTrack, MediaStreamAudioSourceNode>;
  readonly analyser: AnalyserNode;
  readonly since: number;
  lookedAt: number;
  /** When the last audible sample was received. */
  at: number | null;
  beeps: number;
  samples: number;
  longest: number;
}

interface Meters {
  readonly create: () => Meter;
  /** Measures what `tracks` played since the last call. */
  readonly measure: (meter: Meter, tracks: readonly MediaStreamTrack[]) => void;
  readonly summary: (meter: Meter) => Omit<ReceivedVoice, 'of'>;
}

/** From now on the page measures every voice that it has or receives. */
export async function listen(page: AnyPage): Promise<void> {
  await page.evaluate(createMeters);
  await page.evaluate(startMetering);
}

export function receivedVoices(page: AnyPage): Promise<ReceivedVoice[]> {
  return page.evaluate(() => (globalThis as unknown as PageScope).parleyVoices());
}

/** The sum of what the page plays; `receivedVoices` also includes voices that it receives and does not play. */
export function playedSound(page: AnyPage): Promise<PlayedSound> {
  return page.evaluate(() => (globalThis as unknown as PageScope).parleyPlayback());
}

/**
 * Runs in the page. `measure` reads every sample since its last call: a beep lasts 20 ms only, and the timers of a busy page are late.
 */
function createMeters(): void {
  const audible = 0.02;
  /** Audible samples that are no further apart belong to the same beep. */
  const sameBeepMs = 100;
  const context = new AudioContext();

  const create = (): Meter => {
    const now = performance.now();
    const analyser = context.createAnalyser();
    // The maximum: 0.68 s at 48 kHz.
    analyser.fftSize = 32_768;
    const sources = new Map<MediaStreamTrack, MediaStreamAudioSourceNode>();
    return { sources, analyser, since: now, lookedAt: now, at: null, beeps: 0, samples: 0, longest: 0 };
  };

  const connect = (meter: Meter, tracks: readonly MediaStreamTrack[]): void => {
    for (const [track, source] of meter.sources) {
      if (tracks.includes(track)) continue;
      source.disconnect();
      meter.sources.delete(track);
    }
    for (const track of tracks) {
      if (meter.sources.has(track)) continue;
      const source = context.createMediaStreamSource(new MediaStream([track]));
      source.connect(meter.analyser);
      meter.sources.set(track, source);
    }
  };

  const measure = (meter: Meter, tracks: readonly MediaStreamTrack[]): void => {
    connect(meter, tracks);
    const samples = new Float32Array(meter.analyser.fftSize);
    meter.analyser.getFloatTimeDomainData(samples);
    const now = performance.now();
    const missed = ((now - meter.lookedAt) / 1000) * context.sampleRate;
    const unread = Math.min(samples.length, Math.ceil(missed));
    // A page that stood still for longer does not know what came before them, and counts it neither as sound nor as silence.
    if (meter.at !== null) meter.at += (Math.max(0, missed - unread) / context.sampleRate) * 1000;
    meter.lookedAt = now;
    for (let nth = samples.length - unread; nth < samples.length; nth += 1) {
      if (Math.abs(samples[nth] ?? 0) <= audible) continue;
      const at = now - ((samples.length - nth) / context.sampleRate) * 1000;
      meter.samples += 1;
      if (meter.at === null || at - meter.at > sameBeepMs) meter.beeps += 1;
      if (meter.at !== null) meter.longest = Math.max(meter.longest, at - meter.at);
      meter.at = at;
    }
  };

  const summary = ({ at, since, beeps, samples, longest, lookedAt }: Meter): Omit<ReceivedVoice, 'of'> => ({
    beeps,
    audibleMs: Math.round((samples / context.sampleRate) * 1000),
    silentMs: Math.round(Math.max(longest, lookedAt - (at ?? since))),
  });
  (globalThis as unknown as PageScope).parleyMeters = { create, measure, summary };
}

/** Runs in the page, after `createMeters`. */
function startMetering(): void {
  const lookEveryMs = 100;
  const { create, measure, summary } = (globalThis as unknown as PageScope).parleyMeters;
  const meters = new Map<string, Meter>();
  const loudspeaker = create();
  let playing: readonly HTMLAudioElement[] = [];
  /** The position of each element: one whose `play()` succeeded does not advance without an audio device. */
  const positions = new Map<HTMLAudioElement, number>();

  const nameOf = ({ dataset }: HTMLAudioElement): string => dataset['of'] ?? dataset['testid'] ?? '';
  const trackOf = ({ srcObject }: HTMLAudioElement): MediaStreamTrack[] =>
    srcObject instanceof MediaStream ? srcObject.getAudioTracks().slice(0, 1) : [];

  setInterval(() => {
    for (const voice of document.querySelectorAll<HTMLAudioElement>('[data-testid=voice]')) {
      const of = nameOf(voice);
      if (!(voice.srcObject instanceof MediaStream) || of.endsWith('-screen')) continue;
      const meter = meters.get(of) ?? create();
      meters.set(of, meter);
      measure(meter, trackOf(voice));
    }
    const elements = [
      ...document.querySelectorAll<HTMLAudioElement>('[data-testid=voice], [data-testid=mix]'),
    ];
    playing = elements.filter((one) => !one.paused && one.currentTime > (positions.get(one) ?? 0));
    positions.clear();
    for (const one of elements) positions.set(one, one.currentTime);
    measure(loudspeaker, playing.flatMap(trackOf));
  }, lookEveryMs);
  Object.assign(globalThis, {
    parleyVoices: () => [...meters].map(([of, meter]) => ({ of, ...summary(meter) })),
    parleyPlayback: () => ({ elements: playing.map(nameOf), ...summary(loudspeaker) }),
  } satisfies Omit<PageScope, 'parleyMeters'>);
}
