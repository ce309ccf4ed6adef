import type { Person } from '@parley/sdk/call';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import type { CallSession } from './session.ts';

/**
 * The audio of all participants, independent of the tiles, so that it continues when a tile is removed. Audio in the mix is not played a second
 * time.
 */
export function RoomSound({ session }: { readonly session: CallSession }) {
  const { people, mix } = session.snapshot.value;
  return (
    <div class="sound">
      {mix && <Sound session={session} stream={mix} plays testid="mix" />}
      {people.map((person) => (
        <Voice key={person.participant} session={session} person={person} />
      ))}
      {session.soundBlocked.value && (
        <button
          type="button"
          class="button primary large sound-button"
          data-testid="hear"
          onClick={() => void playAll(session)}
        >
          <Icon name="sound" />
          Click to hear everyone
        </button>
      )}
    </div>
  );
}

/** The microphone of a participant, and the sound of the shared screen. */
function Voice({ session, person }: { readonly session: CallSession; readonly person: Person }) {
  const { participant, stream, screen, mixed } = person;
  const volume = session.volumes.of(participant);
  const plays = { session, plays: !mixed, volume, testid: 'voice' } as const;
  return (
    <>
      <Sound {...plays} stream={stream} of={participant} />
      {screen && <Sound {...plays} stream={screen} of={`${participant}-screen`} />}
    </>
  );
}

interface SoundProps {
  readonly session: CallSession;
  readonly stream: MediaStream | null;
  readonly plays: boolean;
  readonly volume?: number;
  readonly testid: 'mix' | 'voice';
  readonly of?: string;
}

function Sound({ session, stream, plays, volume = 1, testid, of }: SoundProps) {
  const element = useRef<HTMLAudioElement>(null);
  const speaker = session.media.chosen.speaker.value;

  // At once: otherwise a participant would be played twice.
  useLayoutEffect(() => {
    const audio = element.current;
    if (!audio) return undefined;
    // Also pauses. Chromium keeps an output for each paused element, and has 50 of them.
    if (!plays) audio.srcObject = null;
    if (audio.srcObject !== stream) audio.srcObject = stream;
    if (!stream || !plays) return undefined;
    const play = () => void start(audio, session);
    play();
    // A track that is added later (a first unmute) must be started too.
    stream.addEventListener('addtrack', play);
    return () => stream.removeEventListener('addtrack', play);
  }, [stream, plays]);

  useEffect(() => {
    const audio = element.current;
    if (!audio || speaker === null || !session.media.port.canChooseSpeaker) return;
    // The speaker was unplugged: the browser continues with the default device.
    audio.setSinkId(speaker).catch(() => {});
  }, [speaker]);

  useLayoutEffect(() => {
    if (element.current) element.current.volume = volume;
  }, [volume]);

  return <audio ref={element} autoplay={plays} data-testid={testid} data-of={of} />;
}

async function start(audio: HTMLAudioElement, session: CallSession): Promise<void> {
  try {
    await audio.play();
  } catch (error) {
    // Other refusals (the stream was replaced meanwhile) are temporary.
    if (error instanceof Error && error.name === 'NotAllowedError') session.soundBlocked.value = true;
  }
}

/** Called from a click, because browsers require a user gesture. */
async function playAll(session: CallSession): Promise<void> {
  session.soundBlocked.value = false;
  const sounds = [...document.querySelectorAll<HTMLAudioElement>('.sound audio[autoplay]')];
  await Promise.all(sounds.filter((audio) => audio.srcObject !== null).map((audio) => start(audio, session)));
}
