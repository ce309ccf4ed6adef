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

interface Listening {
  parleyHeard(): Heard[];
}

/** From now on the page listens to whoever has a voice there, or gets one. */
export async function listen(page: AnyPage): Promise<void> {
  await page.evaluate(beginToListen);
}

export function heard(page: AnyPage): Promise<Heard[]> {
  return page.evaluate(() => (globalThis as unknown as Listening).parleyHeard());
}

/** Runs in the page. Looks back at every sample since the last look, as a page that is busy looks seldom and a beep is over in 20 ms. */
function beginToListen(): void {
  const lookEveryMs = 100;
  const audible = 0.02;
  /** The rest of the same beep. */
  const sameBeepMs = 100;
  const context = new AudioContext();
  interface Ear {
    track: MediaStreamTrack | undefined;
    source: MediaStreamAudioSourceNode | null;
    readonly analyser: AnalyserNode;
    readonly since: number;
    lookedAt: number;
    at: number | null;
    beeps: number;
    samples: number;
    longest: number;
  }
  const ears = new Map<string, Ear>();
  const createEar = (): Ear => {
    const now = performance.now();
    const analyser = context.createAnalyser();
    // The most there is: 0.68 s at 48 kHz.
    analyser.fftSize = 32_768;
    return {
      track: undefined,
      source: null,
      analyser,
      since: now,
      lookedAt: now,
      at: null,
      beeps: 0,
      samples: 0,
      longest: 0,
    };
  };

  const look = (voice: HTMLAudioElement): void => {
    const of = voice.dataset['of'] ?? '';
    if (!(voice.srcObject instanceof MediaStream) || of.endsWith('-screen')) return;
    const ear = ears.get(of) ?? createEar();
    ears.set(of, ear);
    const [track] = voice.srcObject.getAudioTracks();
    if (track !== ear.track) {
      ear.source?.disconnect();
      ear.source = track ? context.createMediaStreamSource(new MediaStream([track])) : null;
      ear.source?.connect(ear.analyser);
      ear.track = track;
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
  setInterval(() => {
    for (const voice of document.querySelectorAll<HTMLAudioElement>('[data-testid=voice]')) look(voice);
  }, lookEveryMs);
  (globalThis as unknown as Listening).parleyHeard = () =>
    [...ears].map(([of, { at, since, beeps, samples, longest }]) => ({
      of,
      beeps,
      audibleMs: Math.round((samples / context.sampleRate) * 1000),
      silentMs: Math.round(Math.max(longest, performance.now() - (at ?? since))),
    }));
}
