/** Short sounds that the page makes itself. */

/** Frequencies in Hz, one after the other. */
export type Chime = readonly number[];

const NOTE_S = 0.16;
/** A note fades in and out, or it would click. */
const FADE_S = 0.03;
/** Until an element has played the last note. */
const TAIL_S = 0.2;
/** Beside voices it is heard, and it is not too loud in headphones. */
const GAIN = 0.12;

/**
 * Plays on the given speaker, or on the default one. Resolves when the last note was played, with `false` if the browser plays no sound: before the
 * first click on a page, or if the speaker is gone.
 */
export async function playChime(notes: Chime, speaker: string | null): Promise<boolean> {
  // Absent in old browsers, whatever the types say.
  const activation = navigator.userActivation as UserActivation | undefined;
  if (typeof AudioContext === 'undefined' || activation?.hasBeenActive === false) return false;
  const context = new AudioContext();
  // In Firefox only elements have a speaker.
  const audio = new Audio();
  try {
    await context.resume();
    const output = speaker === null ? context.destination : await playTo(audio, context, speaker);
    await playNotes(context, output, notes);
    return true;
  } catch {
    return false;
  } finally {
    // An element that plays is never collected.
    audio.srcObject = null;
    await context.close();
  }
}

async function playTo(audio: HTMLAudioElement, context: AudioContext, speaker: string): Promise<AudioNode> {
  const output = context.createMediaStreamDestination();
  audio.srcObject = output.stream;
  await audio.setSinkId(speaker);
  await audio.play();
  return output;
}

function playNotes(context: AudioContext, output: AudioNode, notes: Chime): Promise<void> {
  const gain = context.createGain();
  gain.connect(output);
  const tone = context.createOscillator();
  tone.connect(gain);
  const start = context.currentTime + FADE_S;
  gain.gain.setValueAtTime(0, start);
  for (const [nth, frequency] of notes.entries()) {
    const at = start + nth * NOTE_S;
    tone.frequency.setValueAtTime(frequency, at);
    gain.gain.linearRampToValueAtTime(GAIN, at + FADE_S);
    gain.gain.setValueAtTime(GAIN, at + NOTE_S - FADE_S);
    gain.gain.linearRampToValueAtTime(0, at + NOTE_S);
  }
  tone.start(start);
  tone.stop(start + notes.length * NOTE_S + TAIL_S);
  return new Promise((resolve) => tone.addEventListener('ended', () => resolve(), { once: true }));
}
