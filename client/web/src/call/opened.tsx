import { ChatPanel } from './chat-panel.tsx';
import { CallDialogs } from './dialogs.tsx';
import { PeoplePanel } from './people-panel.tsx';
import type { CallSession } from './session.ts';

/** The panel and the dialog that are open. */
export function Opened({ session }: { readonly session: CallSession }) {
  const panel = session.panel.value;
  return (
    <>
      {panel === 'chat' && <ChatPanel session={session} />}
      {panel === 'people' && <PeoplePanel session={session} />}
      <CallDialogs session={session} />
    </>
  );
}
