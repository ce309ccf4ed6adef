import type { Person } from '@parley/sdk/call';
import { CallIcon } from './call-icon.tsx';
import { Icon } from '../design/icon.tsx';
import type { CallSession } from './session.ts';

const STEP = 5;

interface VolumeButtonProps {
  readonly session: CallSession;
  readonly person: Person;
  readonly open: boolean;
  readonly onToggle: () => void;
}

const sliderId = (person: Person): string => `volume-${person.participant}`;

export function VolumeButton({ session, person, open, onToggle }: VolumeButtonProps) {
  const silent = session.volumes.of(person.participant) === 0;
  return (
    <button
      type="button"
      class={`button quiet icon-only volume-button${open ? ' open' : ''}`}
      data-testid="volume-button"
      aria-label={`Volume of ${person.name}`}
      title={`Volume of ${person.name}`}
      aria-expanded={open}
      aria-controls={sliderId(person)}
      onClick={onToggle}
    >
      {silent ? <CallIcon name="silent" /> : <Icon name="sound" />}
    </button>
  );
}

export function VolumeSlider({
  session,
  person,
}: {
  readonly session: CallSession;
  readonly person: Person;
}) {
  const percent = Math.round(session.volumes.of(person.participant) * 100);
  return (
    <div id={sliderId(person)} class="person-volume">
      <input
        type="range"
        data-testid="volume"
        min={0}
        max={100}
        step={STEP}
        value={percent}
        aria-label={`Volume of ${person.name}`}
        aria-valuetext={`${percent} %`}
        onInput={(event) => session.volumes.set(person.participant, Number(event.currentTarget.value) / 100)}
      />
      <output class="soft small">{percent} %</output>
    </div>
  );
}
