import { useState } from 'preact/hooks';
import { Dialog } from '../design/dialog.tsx';
import { NAME_CHARS } from '../memory/profile.ts';
import { DevicePickers } from '../pages/device-pickers.tsx';
import { MediaTrouble } from '../pages/media-trouble.tsx';
import { SpeakerTest } from '../pages/speaker-test.tsx';
import { AlertSettings } from './alert-settings.tsx';
import { BrowserLacks } from './browser-lacks.tsx';
import { DialogButton } from './dialog-button.tsx';
import { MicrophoneLevel } from './microphone-level.tsx';
import type { CallSession } from './session.ts';

export function SettingsDialog({
  session,
  onClose,
}: {
  readonly session: CallSession;
  readonly onClose: () => void;
}) {
  const { media } = session;
  return (
    <Dialog title="Settings" onClose={onClose} testid="settings-dialog">
      <NameField session={session} />
      <MediaTrouble media={media} />
      <DevicePickers media={media} />
      <MicrophoneLevel media={media} />
      <SpeakerTest media={media} />
      <AlertSettings />
      <BrowserLacks port={media.port} />
      <DialogButton session={session} kind="statistics" label="Statistics of the call" />
      <DialogButton session={session} kind="path" label="Path of this call" />
    </Dialog>
  );
}

function NameField({ session }: { readonly session: CallSession }) {
  const [name, setName] = useState(session.snapshot.value.me.name);
  const [problem, setProblem] = useState(false);
  return (
    <label class="field">
      <span class="label">Your name</span>
      <input
        class="input"
        data-testid="settings-name"
        maxLength={NAME_CHARS}
        value={name}
        aria-invalid={problem}
        onInput={(event) => setName(event.currentTarget.value)}
        onChange={() => setProblem(!session.rename(name))}
      />
      {problem && (
        <span class="field-problem" role="alert">
          This name cannot be used.
        </span>
      )}
    </label>
  );
}
