import type { RoomReference } from '@parley/protocol/ids';
import type { EndReason } from '@parley/sdk/call';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import { isWanted, type LocalMedia } from '../media/local-media.ts';
import { ownerKey } from '../memory/owner-key.ts';
import { NAME_CHARS, relayOnly, rememberedName, rememberName, setRelayOnly } from '../memory/profile.ts';
import type { JoinChoice } from '../memory/tab.ts';
import { readRoom } from '../rooms-api.ts';
import { isRoomOfCall } from '../route.ts';
import { CameraPreview } from './camera-preview.tsx';
import { DevicePickers } from './device-pickers.tsx';
import { MediaTrouble } from './media-trouble.tsx';
import { OwnedRoom } from './owned-room.tsx';
import { usePageTitle } from './page-title.ts';
import './prejoin.css';
import { SiteHead } from './site-head.tsx';
import { SpeakerTest } from './speaker-test.tsx';

export interface PrejoinProps {
  readonly room: RoomReference;
  readonly media: LocalMedia;
  readonly onReady?: () => void;
  readonly onJoin: (choice: JoinChoice) => void;
  /** The room does not exist, or was deleted. */
  readonly onGone: (reason: EndReason) => void;
}

export function Prejoin({ room, media, onReady, onJoin, onGone }: PrejoinProps) {
  const heading = usePageTitle('Join · Parley');
  const [key, setKey] = useState(() => ownerKey(room.room));
  const access = useRoomAccess(room, onGone);
  useEffect(() => {
    onReady?.();
  }, [room.room]);

  return (
    <div class="site" data-testid="prejoin">
      <SiteHead />
      <main class="site-main prejoin-main">
        <div class="prejoin-media">
          <CameraPreview media={media} />
          <MediaTrouble media={media} />
        </div>
        <section class="prejoin-side">
          <div class="prejoin-title">
            <h1 ref={heading} tabIndex={-1}>
              Ready to join?
            </h1>
            <RoomLine room={room} />
          </div>
          {/* The owner does not wait and is not kept out. */}
          {key === null && <AccessNote access={access} />}
          <JoinForm media={media} onJoin={onJoin} />
          <DevicePickers media={media} />
          <SpeakerTest media={media} />
          <RelayOnly />
          {room.kind === 'named' && (key !== null || !isRoomOfCall(room)) && (
            <OwnedRoom
              room={room.room}
              ownerKey={key}
              onKey={setKey}
              onDeleted={() => onGone('ROOM_DELETED')}
            />
          )}
        </section>
      </main>
    </div>
  );
}

type RoomAccess = 'open' | 'locked' | 'lobby';

/** Asks the service for the lock and the lobby of a named room, and for whether the room exists. */
function useRoomAccess(room: RoomReference, onGone: PrejoinProps['onGone']): RoomAccess {
  const [access, setAccess] = useState<RoomAccess>('open');
  useEffect(() => {
    if (room.kind !== 'named') return;
    void readRoom(room.room).then((answer) => {
      if (answer.ok) setAccess(answer.value.locked ? 'locked' : answer.value.lobby ? 'lobby' : 'open');
      // Other refusals may not last: they are reported when joining fails.
      else if (answer.reason === 'ROOM_NOT_FOUND' || answer.reason === 'ROOM_DELETED') onGone(answer.reason);
    });
  }, [room.room]);
  return access;
}

function RoomLine({ room }: Pick<PrejoinProps, 'room'>) {
  return (
    <p class="soft">
      {room.kind === 'named' && !isRoomOfCall(room) ? (
        <>
          Room <strong>{room.name}</strong> in region {room.region}
        </>
      ) : (
        <>
          Room <span class="room-code">{room.room}</span>
        </>
      )}
    </p>
  );
}

function AccessNote({ access }: { readonly access: RoomAccess }) {
  if (access === 'open') return null;
  if (access === 'locked')
    return (
      <div class="callout">
        <Icon name="lock" />
        <p>The owner has locked this room. New people cannot join it.</p>
      </div>
    );
  return (
    <div class="callout calm" data-testid="lobby-ahead">
      <Icon name="door" />
      <p>This room has a lobby: you wait until its owner lets you in.</p>
    </div>
  );
}

function JoinForm({ media, onJoin }: Pick<PrejoinProps, 'media' | 'onJoin'>) {
  const [name, setName] = useState(rememberedName);
  const [problem, setProblem] = useState(false);
  const camera = isWanted(media.camera.value);
  const microphone = isWanted(media.microphone.value) && !media.muted.value;

  function join(choice: JoinChoice): void {
    if (rememberName(name) === undefined) {
      setProblem(true);
      document.getElementById('your-name')?.focus();
      return;
    }
    onJoin(choice);
  }

  return (
    <form
      class="prejoin-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        join({ microphone: isWanted(media.microphone.value), camera });
      }}
    >
      <NameField
        name={name}
        problem={problem}
        onName={(text) => {
          setName(text);
          setProblem(false);
        }}
      />
      <button type="submit" class="button primary large" data-testid="join">
        {joinLabel(camera, microphone)}
      </button>
      <div class="join-actions">
        {camera && (
          <button
            type="button"
            class="button quiet"
            data-testid="join-audio"
            onClick={() => join({ microphone: true, camera: false })}
          >
            Audio only
          </button>
        )}
        {(camera || microphone) && (
          <button
            type="button"
            class="button quiet"
            data-testid="join-listen"
            onClick={() => join({ microphone: false, camera: false })}
          >
            Just listen
          </button>
        )}
      </div>
    </form>
  );
}

interface NameFieldProps {
  readonly name: string;
  readonly problem: boolean;
  readonly onName: (name: string) => void;
}

function NameField({ name, problem, onName }: NameFieldProps) {
  return (
    <div class="field">
      <label class="label" for="your-name">
        Your name
      </label>
      <input
        id="your-name"
        class="input"
        data-testid="name-input"
        autocomplete="name"
        maxLength={NAME_CHARS}
        placeholder="The name that others see"
        value={name}
        aria-invalid={problem}
        aria-describedby="name-problem"
        onInput={(event) => onName(event.currentTarget.value)}
      />
      <p id="name-problem" class="field-problem" role="alert">
        {problem && 'Enter a name. The other people in the call see it.'}
      </p>
    </div>
  );
}

function joinLabel(camera: boolean, microphone: boolean): string {
  if (camera) return microphone ? 'Join with camera and mic' : 'Join with camera, muted';
  return microphone ? 'Join with microphone' : 'Join and listen';
}

function RelayOnly() {
  const [on, setOn] = useState(relayOnly);
  return (
    <label class="check small">
      <input
        type="checkbox"
        data-testid="relay-only"
        checked={on}
        onChange={(event) => {
          setOn(event.currentTarget.checked);
          setRelayOnly(event.currentTarget.checked);
        }}
      />
      <span>
        Always use a TURN server
        <span class="soft">
          {' '}
          – hides your IP address from the others and works behind strict firewalls, with a little more delay
        </span>
      </span>
    </label>
  );
}
