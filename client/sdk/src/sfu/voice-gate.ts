/**
 * Passes voice and nothing else: silence is neither encoded nor sent. The gate opens above the noise floor, which it learns, and stays open over
 * the pauses between words. The audio just before it opens belongs to the word: the caller keeps `PRE_ROLL_MS` of it.
 */

export const PRE_ROLL_MS = 40;
const HANGOVER_MS = 600;
/** RMS of full scale 1: quiet speech is near 0.02, a quiet room near 0.002. */
const MIN_VOICE = 0.006;
const OVER_NOISE = 3;
/** The noise floor is the quietest level. It may rise by this factor per second, so that the gate learns a fan in half a minute. */
const RISE_PER_S = 0.1;
const MIN_NOISE = 0.0005;
/** -70 dBFS: the quietest passages of music are louder, and a silent tab or a muted player produces zeros. */
const MIN_SOUND = 0.0003;

export interface Gate {
  /** Whether to send the block that was just captured. `loudness` is its RMS. */
  passes(loudness: number, nowMs: number): boolean;
}

/** The gate of a shared screen: it learns nothing, because music is as steady as noise. */
export class SoundGate implements Gate {
  #receivedAt = Number.NEGATIVE_INFINITY;

  passes(loudness: number, nowMs: number): boolean {
    if (loudness > MIN_SOUND) this.#receivedAt = nowMs;
    return nowMs - this.#receivedAt < HANGOVER_MS;
  }
}

export class VoiceGate implements Gate {
  #noise = MIN_NOISE;
  #receivedAt = Number.NEGATIVE_INFINITY;
  #at: number | null = null;

  passes(loudness: number, nowMs: number): boolean {
    const passed = this.#at === null ? 0 : Math.max(0, nowMs - this.#at);
    this.#at = nowMs;
    this.#noise = Math.max(MIN_NOISE, Math.min(loudness, this.#noise * (1 + (RISE_PER_S * passed) / 1000)));
    if (loudness > Math.max(MIN_VOICE, this.#noise * OVER_NOISE)) this.#receivedAt = nowMs;
    return nowMs - this.#receivedAt < HANGOVER_MS;
  }
}

export function loudness(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return samples.length === 0 ? 0 : Math.sqrt(sum / samples.length);
}
