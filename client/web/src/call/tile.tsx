import type { Person } from '@parley/sdk/call';
import { useMemo } from 'preact/hooks';
import { Avatar, hueOf } from '../design/avatar.tsx';
import { Icon } from '../design/icon.tsx';
import { Video } from '../design/video.tsx';
import { isReadable } from '../text/link-meaning.ts';
import { linkText } from '../text/links.ts';
import { CallIcon } from './call-icon.tsx';
import { HandMark } from './hands.tsx';
import { LinkBars } from './link-bars.tsx';
import { TileReactions } from './reactions.tsx';
import type { CallSession } from './session.ts';
import { SPEAKING_LEVEL } from './speakers.ts';
import { OwnActions, TileActions } from './tile-actions.tsx';

export interface PersonTileProps {
  readonly session: CallSession;
  readonly person: Person;
  /** Shown large, with the others beside it. */
  readonly large?: boolean;
}

export function PersonTile({ session, person, large = false }: PersonTileProps) {
  const here = person.presence === 'here';
  // In a large room with relays not every camera is fetched.
  const picture = person.media.video && (person.stream?.getVideoTracks().length ?? 0) > 0;
  const speaking = here && person.media.audio && person.level > SPEAKING_LEVEL;
  const note = tileNote(person);
  return (
    <article
      class={`tile ${hueOf(person.participant)}${speaking ? ' speaking' : ''}${here ? '' : ' absent'}${large ? ' large' : ''}${large && picture ? ' whole' : ''}`}
      data-testid="tile"
      data-participant={person.participant}
      data-presence={person.presence}
      data-large={large}
      data-link={person.link.status}
      data-path={person.link.status === 'connected' ? person.link.path : ''}
      data-speaking={speaking}
      aria-label={person.name}
    >
      {picture ? (
        <Video stream={person.stream} fit={large ? 'contain' : 'cover'} label={`${person.name}’s camera`} />
      ) : (
        <Face name={person.name} seed={person.participant} />
      )}
      <HandMark session={session} participant={person.participant} on="tile" />
      {note && <p class="tile-note">{note}</p>}
      {!note && person.videoPaused && (
        <p class="tile-note" title="This device or its network cannot receive every camera: voices go first">
          Video paused
        </p>
      )}
      <TileReactions session={session} participant={person.participant} />
      <TileActions session={session} person={person} picture={picture} />
      <p class="tile-name">
        {!person.media.audio && <MutedMark />}
        <span class="tile-name-text">{person.name}</span>
        <PrivacyMark session={session} person={person} />
      </p>
      <button
        type="button"
        class="tile-link"
        data-testid="tile-link"
        aria-label={`Connection with ${person.name}: ${linkText(person.link)}`}
        title={linkTitle(person)}
        onClick={() => (session.dialog.value = { kind: 'link', participant: person.participant })}
      >
        <LinkBars link={here ? person.link : { status: 'recovering' }} />
      </button>
    </article>
  );
}

interface OwnTileProps {
  readonly session: CallSession;
  /** Lies over the picture of another participant. */
  readonly floating?: boolean;
  /** `false`: stays, as it is the only picture. */
  readonly hideable?: boolean;
}

export function OwnTile({ session, floating = false, hideable = true }: OwnTileProps) {
  const { me } = session.snapshot.value;
  const camera = session.media.sendingCamera.value;
  const muted = session.media.sendingMicrophone.value === null;
  const stream = useMemo(() => (camera ? new MediaStream([camera]) : null), [camera]);
  const speaking = !muted && session.level.value > SPEAKING_LEVEL * 2;
  const seed = me.participant ?? me.name;
  return (
    <article
      class={`tile own ${hueOf(seed)}${speaking ? ' speaking' : ''}`}
      data-testid="tile"
      data-self="true"
      data-participant={me.participant ?? ''}
      aria-label="You"
    >
      {stream ? (
        <Video stream={stream} mirrored={!session.media.cameraFacesAway.value} label="Your camera" />
      ) : (
        <Face name={me.name} seed={seed} />
      )}
      <HandMark session={session} participant={me.participant} on="tile" />
      <TileReactions session={session} participant={me.participant} />
      <OwnActions session={session} floating={floating} hideable={hideable} />
      <p class="tile-name">
        {muted && <MutedMark />}
        <span class="tile-name-text">You</span>
      </p>
    </article>
  );
}

function Face({ name, seed }: { readonly name: string; readonly seed: string }) {
  return (
    <div class="tile-face">
      <Avatar name={name} seed={seed} />
    </div>
  );
}

function MutedMark() {
  return (
    <span class="muted-mark" data-testid="muted">
      <Icon name="mic-off" />
      <span class="visually-hidden">muted: </span>
    </span>
  );
}

/** Whether a relay can read what this participant sends; the button beside it says so to screen readers. */
function PrivacyMark({ session, person }: Pick<PersonTileProps, 'session' | 'person'>) {
  const readable = isReadable(person.link, session.mediaKey.value !== null);
  if (readable === null) return null;
  return (
    <span
      class={`privacy-mark${readable ? ' readable' : ''}`}
      data-testid="privacy"
      data-readable={readable}
      title={readable ? 'Media relays can read this' : 'Encrypted between you'}
    >
      {readable ? <CallIcon name="open-lock" /> : <Icon name="lock" />}
    </span>
  );
}

/** The note on a tile; `null` if there is no problem. */
function tileNote(person: Person): string | null {
  if (person.presence === 'away') return 'Reconnecting';
  if (person.presence === 'unreachable') return 'Unreachable';
  switch (person.link.status) {
    case 'connecting':
      return 'Connecting…';
    case 'recovering':
      return 'Reconnecting…';
    case 'failed':
      return 'Not connected';
    case 'no-media':
      return 'No sound or picture';
    case 'other-key':
      return 'Has another key';
    case 'connected':
      return null;
    default:
      return person.link satisfies never;
  }
}

function linkTitle(person: Person): string {
  const { link } = person;
  if (link.status !== 'connected') return `Connection: ${linkText(link)}`;
  const numbers = [
    ...(link.roundTripMs === null ? [] : [`${Math.round(link.roundTripMs)} ms`]),
    ...(link.lossPercent === null ? [] : [`${link.lossPercent.toFixed(1)} % lost`]),
  ];
  return [`Connection: ${linkText(link)}`, ...numbers].join(' · ');
}
