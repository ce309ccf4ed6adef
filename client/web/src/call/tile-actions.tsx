import type { Person } from '@parley/sdk/call';
import type { ComponentChild } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import { CallIcon } from './call-icon.tsx';
import type { CallSession } from './session.ts';

interface TileActionsProps {
  readonly session: CallSession;
  readonly person: Person;
  /** There is video that can be shown in full screen or in a floating window. */
  readonly picture: boolean;
}

/** Shown on hover and on focus; always on touch screens. */
export function TileActions({ session, person, picture }: TileActionsProps) {
  const pinned = session.stage.pinned.value === person.participant;
  // The only other participant is large in any case.
  const pinnable = session.snapshot.value.people.length > 1;
  return (
    <div class="tile-actions">
      {picture && <FloatButton session={session} label={`${person.name} in a window of their own`} />}
      {picture && <FullscreenButton what={person.name} />}
      {pinnable && (
        <TileAction
          testid="pin"
          label={pinned ? `Unpin ${person.name}` : `Pin ${person.name}`}
          pressed={pinned}
          onPress={() => session.stage.togglePin(person.participant)}
        >
          <Icon name={pinned ? 'unpin' : 'pin'} />
        </TileAction>
      )}
    </div>
  );
}

interface OwnActionsProps {
  readonly session: CallSession;
  readonly floating: boolean;
  readonly hideable: boolean;
}

/** What a user does with their own picture. */
export function OwnActions({ session, floating, hideable }: OwnActionsProps) {
  const { media, stage } = session;
  const flips =
    media.port.canFlipCamera && media.devices.value.camera.length > 1 && media.sendingCamera.value !== null;
  return (
    <div class="tile-actions">
      {flips && (
        <TileAction testid="flip-camera" label="Flip the camera" onPress={() => void media.flipCamera()}>
          <CallIcon name="flip" />
        </TileAction>
      )}
      {floating && (
        <TileAction
          testid="move-self"
          label="Move your picture to another corner"
          onPress={() => stage.moveSelf()}
        >
          <CallIcon name="move" />
        </TileAction>
      )}
      {hideable && (
        <TileAction
          testid="hide-self"
          label="Hide your picture from yourself"
          onPress={() => {
            stage.showSelf(false);
            session.notices.show(
              'Your picture is hidden from you only. The others see the same as before.',
              'info',
            );
          }}
        >
          <CallIcon name="hide" />
        </TileAction>
      )}
    </div>
  );
}

/** Nothing where the browser has no picture in picture. */
export function FloatButton({ session, label }: { readonly session: CallSession; readonly label: string }) {
  if (!document.pictureInPictureEnabled) return null;
  return (
    <TileAction
      testid="float"
      look="float"
      label={label}
      onPress={(button) => void floatPicture(button, session)}
    >
      <Icon name="float" />
    </TileAction>
  );
}

/** Nothing where the browser shows no elements in full screen, as on iPhones. */
export function FullscreenButton({ what }: { readonly what: string }) {
  const element = useRef<HTMLSpanElement>(null);
  const [full, setFull] = useState(false);
  useEffect(() => {
    const onChange = () => setFull(document.fullscreenElement?.contains(element.current) === true);
    document.addEventListener('fullscreenchange', onChange);
    return () => document.removeEventListener('fullscreenchange', onChange);
  }, []);
  if (!document.fullscreenEnabled) return null;
  return (
    <span ref={element}>
      <TileAction
        testid="full"
        label={full ? 'Leave full screen' : `${what} in full screen`}
        onPress={(button) => void toggleFullscreen(button)}
      >
        <CallIcon name={full ? 'full-end' : 'full'} />
      </TileAction>
    </span>
  );
}

interface TileActionProps {
  readonly testid: string;
  readonly label: string;
  readonly look?: string;
  readonly pressed?: boolean;
  readonly onPress: (button: HTMLElement) => void;
  readonly children: ComponentChild;
}

export function TileAction({ testid, label, look, pressed, onPress, children }: TileActionProps) {
  return (
    <button
      type="button"
      class={`tile-action${look === undefined ? '' : ` ${look}`}${pressed ? ' on' : ''}`}
      data-testid={testid}
      aria-label={label}
      aria-pressed={pressed}
      title={label}
      onClick={(event) => onPress(event.currentTarget)}
    >
      {children}
    </button>
  );
}

async function floatPicture(button: HTMLElement, session: CallSession): Promise<void> {
  const video = button.closest('.tile')?.querySelector('video');
  try {
    if (document.pictureInPictureElement === video) await document.exitPictureInPicture();
    else await video?.requestPictureInPicture();
  } catch {
    session.notices.show('This browser could not open a floating window for the video.', 'trouble');
  }
}

/** A refusal changes nothing: the tile stays where it is. */
async function toggleFullscreen(button: HTMLElement): Promise<void> {
  try {
    if (document.fullscreenElement) await document.exitFullscreen();
    else await button.closest('.tile')?.requestFullscreen();
  } catch {
    // The browser refuses while another request is in progress.
  }
}
