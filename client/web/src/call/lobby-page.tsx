import { OwnerKeyWarning } from './owner/owner-key-warning.tsx';
import type { CallSession } from './session.ts';
import { WaitingPage } from './waiting-page.tsx';

/** The page of a newcomer who waits in the lobby. Becomes the call when an owner admits. */
export function LobbyPage({
  session,
  offline,
}: {
  readonly session: CallSession;
  readonly offline: boolean;
}) {
  const status = offline
    ? 'You are offline. Your request is sent again when your network returns.'
    : 'The owner of the room sees that you are waiting. The call starts automatically when they let you in.';
  return (
    <WaitingPage session={session} testId="lobby" icon="door" title="Waiting to be let in" status={status}>
      <OwnerKeyWarning session={session} />
    </WaitingPage>
  );
}
