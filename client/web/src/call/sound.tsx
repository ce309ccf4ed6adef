import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import type { CallSession } from './session.ts';

/** Everybody's voice, apart from the tiles, so that it goes on whatever is shown. */
export function RoomSound({ session }: { readonly session: CallSession }) {
  const { people } = session.snapshot.value;
  return (
    <div class="sound">
      {people.map((person) => (
        <Voice key={person.participant} session={session} stream={person.stream} of={person.participant} />
      ))}
      {people.map(
        (person) =>
          person.screen && (
            <Voice
              key={`${person.participant}-screen`}
              session={session}
              stream={person.screen}
              of={`${person.participant}-screen`}
            />
          ),
      )}
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

interface VoiceProps {
  readonly session: CallSession;
  readonly stream: MediaStream | null;
  readonly of: string;
}

function Voice({ session, stream, of }: VoiceProps) {
  const element = useRef<HTMLAudioElement>(null);
  const speaker = session.media.chosen.speaker.value;

  useEffect(() => {
    const audio = element.current;
    if (!audio) return undefined;
    if (audio.srcObject !== stream) audio.srcObject = stream;
    if (!stream) return undefined;
    const play = () => void start(audio, session);
    play();
    // A track that comes later (somebody unmutes for the first time) needs to be started too.
    stream.addEventListener('addtrack', play);
    return () => stream.removeEventListener('addtrack', play);
  }, [stream]);

  useEffect(() => {
    const audio = element.current;
    if (!audio || speaker === null || !session.media.port.canChooseSpeaker) return;
    // The speaker was unplugged: the browser goes on with the system's own.
    audio.setSinkId(speaker).catch(() => {});
  }, [speaker]);

  return <audio ref={element} autoplay data-testid="voice" data-of={of} />;
}

async function start(audio: HTMLAudioElement, session: CallSession): Promise<void> {
  try {
    await audio.play();
  } catch (error) {
    // Other refusals (the stream was replaced meanwhile) pass by themselves.
    if (error instanceof Error && error.name === 'NotAllowedError') session.soundBlocked.value = true;
  }
}

/** Called from a click, which is what the browser waits for. */
async function playAll(session: CallSession): Promise<void> {
  session.soundBlocked.value = false;
  const voices = [...document.querySelectorAll<HTMLAudioElement>('[data-testid="voice"]')];
  await Promise.all(voices.filter((audio) => audio.srcObject !== null).map((audio) => start(audio, session)));
}
