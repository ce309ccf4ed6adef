import type { Person } from '@parley/sdk/call';
import { Avatar } from '../design/avatar.tsx';
import { Icon } from '../design/icon.tsx';
import { Panel } from './panel.tsx';
import type { CallSession } from './session.ts';
import { shareLink } from './share-link.tsx';

export function PeoplePanel({ session }: { readonly session: CallSession }) {
  const { me, people } = session.snapshot.value;
  return (
    <Panel
      title={`People (${people.length + 1})`}
      testid="people-panel"
      onClose={() => (session.panel.value = 'none')}
    >
      <ul class="people">
        <li class="person">
          <Avatar name={me.name} seed={me.participant ?? me.name} />
          <span class="person-name">
            {me.name} <span class="soft">(you)</span>
          </span>
          <MediaMarks audio={me.media.audio} video={me.media.video} screen={me.media.screen} />
        </li>
        {people.map((person) => (
          <li key={person.participant} class="person" data-testid="person">
            <Avatar name={person.name} seed={person.participant} />
            <span class="person-name">
              {person.name}
              <PresenceWord person={person} />
            </span>
            <MediaMarks {...person.media} />
          </li>
        ))}
      </ul>
      <div class="panel-foot">
        <button type="button" class="button" onClick={() => void shareLink(session)}>
          <Icon name="link" />
          Invite with a link
        </button>
      </div>
    </Panel>
  );
}

function PresenceWord({ person }: { readonly person: Person }) {
  if (person.presence === 'here') return null;
  return <span class="soft small person-away">{person.presence === 'away' ? 'Away' : 'Cut off'}</span>;
}

function MediaMarks({ audio, video, screen }: { audio: boolean; video: boolean; screen: boolean }) {
  const words = [
    audio ? 'microphone on' : 'muted',
    video ? 'camera on' : 'camera off',
    ...(screen ? ['sharing their screen'] : []),
  ];
  return (
    <span class="marks">
      <span class="visually-hidden">{words.join(', ')}</span>
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
