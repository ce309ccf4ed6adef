import type { Person } from '@parley/sdk/call';
import { useState } from 'preact/hooks';
import { Avatar } from '../design/avatar.tsx';
import { Icon } from '../design/icon.tsx';
import { HandMark, HandQueue } from './hands.tsx';
import type { OwnerCommands } from './owner/owner-commands.ts';
import { OwnerKeyWarning } from './owner/owner-key-warning.tsx';
import { PersonMenu, PersonMenuButton } from './owner/person-menu.tsx';
import { RoomSection } from './owner/room-section.tsx';
import { WaitingList } from './owner/waiting-list.tsx';
import { Panel } from './panel.tsx';
import type { CallSession } from './session.ts';
import { VolumeButton, VolumeSlider } from './person-volume.tsx';
import { shareLink } from './share-link.tsx';
import { canSetVolume } from './volumes.ts';

export function PeoplePanel({ session }: { readonly session: CallSession }) {
  const { me, people, lobby, view, allMuted } = session.snapshot.value;
  const [openFor, setOpenFor] = useState<string | null>(null);
  const commands = me.owner ? session.ownerCommands : null;
  return (
    <Panel
      title={`People (${people.length + 1})`}
      testid="people-panel"
      onClose={() => (session.panel.value = 'none')}
    >
      <div class="people-scroll">
        <OwnerKeyWarning session={session} />
        <Problem session={session} />
        {commands && lobby.length > 0 && <WaitingList commands={commands} lobby={lobby} />}
        <HandQueue session={session} />
        <ul class={`people${commands ? ' with-menus' : ''}`}>
          <li class="person">
            <Avatar name={me.name} seed={me.participant ?? me.name} />
            <span class="person-name">
              <span>
                {me.name} <span class="soft">(you)</span>
              </span>
              <OwnerBadge of={me} />
              {me.muted && <span class="soft small">Muted by an owner</span>}
            </span>
            <HandMark session={session} participant={me.participant} on="row" />
            <MediaMarks audio={me.media.audio} video={me.media.video} screen={me.media.screen} />
          </li>
          {people.map((person) => (
            <PersonRow
              key={person.participant}
              session={session}
              commands={commands}
              person={person}
              open={openFor === person.participant}
              onToggle={() => setOpenFor(openFor === person.participant ? null : person.participant)}
            />
          ))}
        </ul>
        {commands && view && (
          <RoomSection
            commands={commands}
            view={view}
            allMuted={allMuted}
            onEndCall={() => (session.dialog.value = { kind: 'end-call' })}
          />
        )}
      </div>
      <div class="panel-foot">
        <button type="button" class="button" onClick={() => void shareLink(session)}>
          <Icon name="link" />
          Invite with a link
        </button>
      </div>
    </Panel>
  );
}

interface PersonRowProps {
  readonly session: CallSession;
  readonly commands: OwnerCommands | null;
  readonly person: Person;
  readonly open: boolean;
  readonly onToggle: () => void;
}

function PersonRow({ session, commands, person, open, onToggle }: PersonRowProps) {
  const [volumeOpen, setVolumeOpen] = useState(false);
  const muteRequested = commands?.muteRequested.value.has(person.participant) && person.media.audio;
  return (
    <li data-testid="person" data-participant={person.participant}>
      <div class="person">
        <Avatar name={person.name} seed={person.participant} />
        <span class="person-name">
          {person.name}
          <OwnerBadge of={person} />
          <PresenceWord person={person} />
          {person.muted && <span class="soft small">Muted by an owner</span>}
          {muteRequested && <span class="soft small">Asked to mute</span>}
        </span>
        <HandMark session={session} participant={person.participant} on="row" />
        <MediaMarks {...person.media} />
        {(person.mixed || canSetVolume()) && (
          <VolumeButton
            session={session}
            person={person}
            open={volumeOpen}
            onToggle={() => setVolumeOpen(!volumeOpen)}
          />
        )}
        {commands && <PersonMenuButton person={person} open={open} onToggle={onToggle} />}
      </div>
      {volumeOpen && <VolumeSlider session={session} person={person} />}
      {commands && (
        <PersonMenu session={session} commands={commands} person={person} open={open} onToggle={onToggle} />
      )}
    </li>
  );
}

/** Why the last command of the owner failed. */
function Problem({ session }: { readonly session: CallSession }) {
  const problem = session.problem.value;
  if (problem === null) return null;
  return (
    <p class="callout bad" role="alert" data-testid="owner-problem">
      <Icon name="warning" />
      {problem}
    </p>
  );
}

function OwnerBadge({ of: { owner, coOwner } }: { readonly of: Pick<Person, 'owner' | 'coOwner'> }) {
  if (!owner) return null;
  return (
    <span class="owner-badge" data-testid="owner-badge">
      {coOwner ? 'Co-owner' : 'Owner'}
    </span>
  );
}

function PresenceWord({ person }: { readonly person: Person }) {
  if (person.presence === 'here') return null;
  return <span class="soft small person-away">{person.presence === 'away' ? 'Away' : 'Unreachable'}</span>;
}

function MediaMarks({ audio, video, screen }: { audio: boolean; video: boolean; screen: boolean }) {
  const states = [
    audio ? 'microphone on' : 'muted',
    video ? 'camera on' : 'camera off',
    ...(screen ? ['sharing their screen'] : []),
  ];
  return (
    <span class="marks">
      <span class="visually-hidden">{states.join(', ')}</span>
      {screen && <Icon name="screen" />}
      <span class={audio ? '' : 'mark-off'}>
        <Icon name={audio ? 'mic' : 'mic-off'} />
      </span>
      <span class={video ? '' : 'mark-off'}>
        <Icon name={video ? 'camera' : 'camera-off'} />
      </span>
    </span>
  );
}
