import type { CallSession } from './session.ts';
import { useSecondsUntil } from './use-seconds.ts';
import { WaitingPage } from './waiting-page.tsx';

/** The page of a newcomer whose turn comes in a while, as many people are arriving. Becomes the call. */
export function ArrivingPage({
  session,
  turnAtMs,
}: {
  readonly session: CallSession;
  readonly turnAtMs: number;
}) {
  const seconds = useSecondsUntil(turnAtMs);
  return (
    <WaitingPage
      session={session}
      testId="arriving"
      icon="people"
      title="Many people are arriving"
      status="Your place is kept. The call starts automatically when it is your turn."
    >
      <p class="notice-count" role="timer" data-testid="arriving-count">
        {timeLeft(seconds)}
      </p>
    </WaitingPage>
  );
}

/** The time is an estimate: it may be over a little before the turn. */
export function timeLeft(seconds: number): string {
  if (seconds <= 0) return 'Any moment now';
  return seconds < 60 ? `About ${seconds} s` : `About ${Math.ceil(seconds / 60)} min`;
}
