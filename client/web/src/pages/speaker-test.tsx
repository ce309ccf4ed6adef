import { useState } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import { playChime } from '../media/chime.ts';
import type { LocalMedia } from '../media/local-media.ts';

const MELODY = [523, 659, 784, 1047];

type State = 'ready' | 'playing' | 'played' | 'failed';
const TEXT: Record<State, string> = {
  ready: '',
  playing: 'Playing…',
  played: 'Did you hear it? If not, choose another speaker or raise the volume.',
  failed: 'The sound could not be played on this speaker.',
};

/** Plays a sound on the chosen speaker. */
export function SpeakerTest({ media }: { readonly media: LocalMedia }) {
  const [state, setState] = useState<State>('ready');
  async function play(): Promise<void> {
    setState('playing');
    const { speaker } = media.chosen;
    setState(
      (await playChime(MELODY, media.port.canChooseSpeaker ? speaker.peek() : null)) ? 'played' : 'failed',
    );
  }
  return (
    <div class="speaker-test">
      <button
        type="button"
        class="button"
        data-testid="test-speaker"
        aria-disabled={state === 'playing'}
        onClick={() => state !== 'playing' && void play()}
      >
        <Icon name="sound" />
        Test the speaker
      </button>
      <p class="soft small" role="status" data-testid="speaker-tested" data-state={state}>
        {TEXT[state]}
      </p>
    </div>
  );
}
