import type { ComponentChild } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import { DevicePickers } from '../pages/device-pickers.tsx';
import { SpeakerTest } from '../pages/speaker-test.tsx';
import { MicrophoneLevel } from './microphone-level.tsx';
import type { CallSession } from './session.ts';
import { useCloseOutside } from './use-close-outside.ts';

interface DeviceMenuProps {
  readonly session: CallSession;
  readonly kind: 'microphone' | 'camera';
  /** The button of the device. */
  readonly children: ComponentChild;
}

const LABELS = { microphone: 'Microphone and speaker', camera: 'Camera' } as const;

/** The devices of a kind beside its button. Phones have no space for it: they have the settings. */
export function DeviceMenu({ session, kind, children }: DeviceMenuProps) {
  const element = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  useCloseOutside(element, open, () => setOpen(false));
  const label = LABELS[kind];
  return (
    <div
      ref={element}
      class="control-group"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return;
        event.stopPropagation();
        setOpen(false);
        element.current?.querySelector<HTMLElement>('.control-devices')?.focus();
      }}
    >
      {children}
      <button
        type="button"
        class={`control-devices${open ? ' open' : ''}`}
        data-testid={`devices-${kind}`}
        aria-label={`${label}: choose`}
        title={`${label}: choose`}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Icon name="chevron" />
      </button>
      {open && <Devices session={session} kind={kind} label={label} />}
    </div>
  );
}

interface DevicesProps {
  readonly session: CallSession;
  readonly kind: 'microphone' | 'camera';
  readonly label: string;
}

function Devices({ session, kind, label }: DevicesProps) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => element.current?.querySelector<HTMLElement>('select, button')?.focus(), []);
  const { media } = session;
  const isEmpty = media.devices.value[kind].length === 0;
  return (
    <div
      ref={element}
      class="device-menu"
      role="group"
      aria-label={label}
      data-testid={`device-menu-${kind}`}
    >
      {isEmpty && <p class="soft small">{`This browser names no ${kind}. Turn it on to choose one.`}</p>}
      {kind === 'camera' && <DevicePickers media={media} kinds={['camera']} />}
      {kind === 'microphone' && (
        <>
          <DevicePickers media={media} kinds={['microphone', 'speaker']} />
          <MicrophoneLevel media={media} />
          <SpeakerTest media={media} />
        </>
      )}
    </div>
  );
}
