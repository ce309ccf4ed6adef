/** What is heard of others, whichever way it comes: the fake microphone of each beeps about once a second. */
import type { Page } from 'playwright-core';

export interface Heard {
  readonly of: string;
  readonly beeps: number;
  /** The longest time between two beeps, or since the last one, in ms. */
  readonly silentMs: number;
}

interface Listening {
  parleyHeard(): Heard[];
}

/** From now on the page listens to whoever has a voice there, or gets one. */
export async function listen(page: Page): Promise<void> {
  await page.evaluate(beginToListen);
}

export function heard(page: Page): Promise<Heard[]> {
  return page.evaluate(() => (globalThis as unknown as Listening).parleyHeard());
}

/** Runs in the page. */
function beginToListen(): void {
  const lookEveryMs = 40;
  const audible = 0.02;
  /** The rest of the same beep. */
  const sameBeepMs = 300;
  const context = new AudioContext();
  interface Ear {
    track: MediaStreamTrack | undefined;
    source: MediaStreamAudioSourceNode | null;
    readonly analyser: AnalyserNode;
    readonly since: number;
    at: number | null;
    beeps: number;
    longest: number;
  }
  const ears = new Map<string, Ear>();

  const look = (voice: HTMLAudioElement): void => {
    const of = voice.dataset['of'] ?? '';
    if (!(voice.srcObject instanceof MediaStream) || of.endsWith('-screen')) return;
    const ear: Ear = ears.get(of) ?? {
      track: undefined,
      source: null,
      analyser: context.createAnalyser(),
      since: performance.now(),
      at: null,
      beeps: 0,
      longest: 0,
    };
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
    if (!samples.some((sample) => Math.abs(sample) > audible)) return;
    if (ear.at === null || now - ear.at > sameBeepMs) ear.beeps += 1;
    if (ear.at !== null) ear.longest = Math.max(ear.longest, now - ear.at);
    ear.at = now;
  };
  setInterval(() => {
    for (const voice of document.querySelectorAll<HTMLAudioElement>('[data-testid=voice]')) look(voice);
  }, lookEveryMs);
  (globalThis as unknown as Listening).parleyHeard = () =>
    [...ears].map(([of, { at, since, beeps, longest }]) => ({
      of,
      beeps,
      silentMs: Math.round(Math.max(longest, performance.now() - (at ?? since))),
    }));
}
