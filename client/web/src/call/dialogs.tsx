import { useState } from 'preact/hooks';
import { Dialog } from '../design/dialog.tsx';
import { shortcutsOn, setShortcutsOn } from '../memory/profile.ts';
import { LinkDialog } from './link-dialog.tsx';
import { BanDialog } from './owner/ban-dialog.tsx';
import { EndCallDialog } from './owner/end-call-dialog.tsx';
import type { CallSession } from './session.ts';
import { PathDialog } from './path-dialog.tsx';
import { SettingsDialog } from './settings-dialog.tsx';
import { ShareDialog } from './share-link.tsx';
import { SHORTCUTS } from './shortcuts.ts';
import { StatisticsDialog } from './statistics-dialog.tsx';

export function CallDialogs({ session }: { readonly session: CallSession }) {
  const open = session.dialog.value;
  const onClose = () => (session.dialog.value = null);
  switch (open?.kind) {
    case undefined:
      return null;
    case 'settings':
      return <SettingsDialog session={session} onClose={onClose} />;
    case 'shortcuts':
      return <ShortcutsDialog onClose={onClose} />;
    case 'share':
      return <ShareDialog session={session} onClose={onClose} />;
    case 'path':
      return <PathDialog session={session} onClose={onClose} />;
    case 'statistics':
      return <StatisticsDialog session={session} onClose={onClose} />;
    case 'link':
      return <LinkDialog session={session} participant={open.participant} onClose={onClose} />;
    case 'ban':
      return (
        session.ownerCommands && (
          <BanDialog
            commands={session.ownerCommands}
            participant={open.participant}
            name={open.name}
            onClose={onClose}
          />
        )
      );
    case 'end-call':
      return session.ownerCommands && <EndCallDialog commands={session.ownerCommands} onClose={onClose} />;
    default:
      return open satisfies never;
  }
}

function ShortcutsDialog({ onClose }: { readonly onClose: () => void }) {
  const [on, setOn] = useState(shortcutsOn);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} testid="shortcuts-dialog">
      <dl class="facts">
        {SHORTCUTS.map(({ key, action }) => (
          <div key={key}>
            <dt>{action}</dt>
            <dd>
              <kbd>{key}</kbd>
            </dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={on}
          onChange={(event) => {
            setOn(event.currentTarget.checked);
            setShortcutsOn(event.currentTarget.checked);
          }}
        />
        Use single-key shortcuts
      </label>
    </Dialog>
  );
}
