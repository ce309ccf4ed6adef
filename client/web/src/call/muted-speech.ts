/** Detects that a user speaks while muted. Time and loudness are inputs. */
import { SPEAKING_LEVEL } from './speakers.ts';

/** The microphone of the user is close: breath and keyboards are louder than those of others. */
const LOUD = SPEAKING_LEVEL * 2;
/** A word has several loud samples within this time, and the click of a door has fewer. */
const WINDOW_MS = 1000;
const SAMPLES = 3;
/** From the last word: long enough to read a sentence and to press a button. */
const SHOWN_MS = 4000;

export class MutedSpeech {
  #loudAt: readonly number[] = [];
  #until = 0;

  /** Takes the loudness, 0 to 1, of a muted microphone; `true` while the user should be told. */
  hear(level: number, nowMs: number): boolean {
    this.#loudAt = this.#loudAt.filter((at) => nowMs - at < WINDOW_MS);
    if (level > LOUD) this.#loudAt = [...this.#loudAt, nowMs].slice(-SAMPLES);
    if (this.#loudAt.length >= SAMPLES) this.#until = nowMs + SHOWN_MS;
    return nowMs < this.#until;
  }
}
