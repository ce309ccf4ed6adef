/**
 * Lets a voice through and nothing else: silence is neither encoded nor sent. It opens above the noise of the room, which it learns, and
 * stays open over the pauses between words. What came just before it opened belongs to the word: the caller keeps `PRE_ROLL_MS` of it.
 */

export const PRE_ROLL_MS = 40;
const HANGOVER_MS = 600;
/** RMS of full scale 1: quiet speech is near 0.02, a quiet room near 0.002. */
const LEAST_VOICE = 0.006;
const OVER_NOISE = 3;
/** The noise is what is quietest; it is let rise this much a second, so that a fan that is switched on is learnt in half a minute. */
const RISE_PER_S = 0.1;
const LEAST_NOISE = 0.0005;
/** -70 dB of full scale: music's quietest passages are louder, and what a silent tab or a muted player plays is nothing at all. */
const LEAST_SOUND = 0.0003;

export interface Gate {
  /** Whether the block that was captured now is to be sent. `loudness` is its RMS. */
  passes(loudness: number, nowMs: number): boolean;
}

/** Of a shared screen: it learns nothing, as music is as steady as any noise. */
export class SoundGate implements Gate {
  #heardAt = Number.NEGATIVE_INFINITY;

  passes(loudness: number, nowMs: number): boolean {
    if (loudness > LEAST_SOUND) this.#heardAt = nowMs;
    return nowMs - this.#heardAt < HANGOVER_MS;
  }
}

export class VoiceGate implements Gate {
  #noise = LEAST_NOISE;
  #heardAt = Number.NEGATIVE_INFINITY;
  #at: number | null = null;

  passes(loudness: number, nowMs: number): boolean {
    const passed = this.#at === null ? 0 : Math.max(0, nowMs - this.#at);
    this.#at = nowMs;
    this.#noise = Math.max(LEAST_NOISE, Math.min(loudness, this.#noise * (1 + (RISE_PER_S * passed) / 1000)));
    if (loudness > Math.max(LEAST_VOICE, this.#noise * OVER_NOISE)) this.#heardAt = nowMs;
    return nowMs - this.#heardAt < HANGOVER_MS;
  }
}

export function loudness(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return samples.length === 0 ? 0 : Math.sqrt(sum / samples.length);
}
