/** What is heard of others, whichever way it comes: the fake microphone of each beeps twice a second. */

import type { AnyPage } from './any-page.ts';

export interface Heard {
  readonly of: string;
  readonly beeps: number;
  /** For how long there was sound in all, in ms. */
  readonly audibleMs: number;
  /** The longest time between two beeps, or since the last one, in ms. */
  readonly silentMs: number;
}

/** What comes out of the loudspeaker. */
export interface Played extends Omit<Heard, 'of'> {
  /** Elements that play now: `mix`, or whose voice it is. */
  readonly elements: readonly string[];
}

interface Listening {
  parleyHeard(): Heard[];
  parleyPlayed(): Played;
}

/** From now on the page listens to whoever has a voice there, or gets one. */
export async function listen(page: AnyPage): Promise<void> {
  await page.evaluate(beginToListen);
}

export function heard(page: AnyPage): Promise<Heard[]> {
  return page.evaluate(() => (globalThis as unknown as Listening).parleyHeard());
}

/** Of everybody together, whom the page plays; `heard` has also what it does not. */
export function played(page: AnyPage): Promise<Played> {
  return page.evaluate(() => (globalThis as unknown as Listening).parleyPlayed());
}

/** Runs in the page. Looks back at every sample since the last look, as a page that is busy looks seldom and a beep is over in 20 ms. */
function beginToListen(): void {
  const lookEveryMs = 100;
  const audible = 0.02;
  /** The rest of the same beep. */
  const sameBeepMs = 100;
  const context = new AudioContext();
  interface Ear {
    readonly sources: Map<MediaStreamTrack, MediaStreamAudioSourceNode>;
    readonly analyser: AnalyserNode;
    readonly since: number;
    lookedAt: number;
    at: number | null;
    beeps: number;
    samples: number;
    longest: number;
  }
  const createEar = (): Ear => {
    const now = performance.now();
    const analyser = context.createAnalyser();
    // The most there is: 0.68 s at 48 kHz.
    analyser.fftSize = 32_768;
    return {
      sources: new Map(),
      analyser,
      since: now,
      lookedAt: now,
      at: null,
      beeps: 0,
      samples: 0,
      longest: 0,
    };
  };
  const ears = new Map<string, Ear>();
  const loudspeaker = createEar();
  let playing: readonly HTMLAudioElement[] = [];
  /** How far each has played: one that was told to play may have nowhere to play to. */
  const positions = new Map<HTMLAudioElement, number>();

  const nameOf = ({ dataset }: HTMLAudioElement): string => dataset['of'] ?? dataset['testid'] ?? '';
  const trackOf = ({ srcObject }: HTMLAudioElement): MediaStreamTrack[] =>
    srcObject instanceof MediaStream ? srcObject.getAudioTracks().slice(0, 1) : [];

  const look = (ear: Ear, tracks: readonly MediaStreamTrack[]): void => {
    for (const [track, source] of ear.sources) {
      if (tracks.includes(track)) continue;
      source.disconnect();
      ear.sources.delete(track);
    }
    for (const track of tracks) {
      if (ear.sources.has(track)) continue;
      const source = context.createMediaStreamSource(new MediaStream([track]));
      source.connect(ear.analyser);
      ear.sources.set(track, source);
    }
    const samples = new Float32Array(ear.analyser.fftSize);
    ear.analyser.getFloatTimeDomainData(samples);
    const now = performance.now();
    const unheard = Math.min(samples.length, Math.ceil(((now - ear.lookedAt) / 1000) * context.sampleRate));
    ear.lookedAt = now;
    for (let nth = samples.length - unheard; nth < samples.length; nth += 1) {
      if (Math.abs(samples[nth] ?? 0) <= audible) continue;
      const at = now - ((samples.length - nth) / context.sampleRate) * 1000;
      ear.samples += 1;
      if (ear.at === null || at - ear.at > sameBeepMs) ear.beeps += 1;
      if (ear.at !== null) ear.longest = Math.max(ear.longest, at - ear.at);
      ear.at = at;
    }
  };
  const summary = ({ at, since, beeps, samples, longest }: Ear): Omit<Heard, 'of'> => ({
    beeps,
    audibleMs: Math.round((samples / context.sampleRate) * 1000),
    silentMs: Math.round(Math.max(longest, performance.now() - (at ?? since))),
  });
  setInterval(() => {
    for (const voice of document.querySelectorAll<HTMLAudioElement>('[data-testid=voice]')) {
      const of = nameOf(voice);
      if (!(voice.srcObject instanceof MediaStream) || of.endsWith('-screen')) continue;
      const ear = ears.get(of) ?? createEar();
      ears.set(of, ear);
      look(ear, trackOf(voice));
    }
    const elements = [
      ...document.querySelectorAll<HTMLAudioElement>('[data-testid=voice], [data-testid=mix]'),
    ];
    playing = elements.filter((one) => !one.paused && one.currentTime > (positions.get(one) ?? 0));
    positions.clear();
    for (const one of elements) positions.set(one, one.currentTime);
    look(loudspeaker, playing.flatMap(trackOf));
  }, lookEveryMs);
  Object.assign(globalThis, {
    parleyHeard: () => [...ears].map(([of, ear]) => ({ of, ...summary(ear) })),
    parleyPlayed: () => ({ elements: playing.map(nameOf), ...summary(loudspeaker) }),
  } satisfies Listening);
}
