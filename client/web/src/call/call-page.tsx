import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { CallConnection } from '@parley/sdk/call';
import { usePageTitle } from '../pages/page-title.ts';
import { PendingRequests } from './pending-requests.tsx';
import { ArrivingPage, timeLeft } from './arriving-page.tsx';
import './call.css';
import { CallHead } from './call-head.tsx';
import './controls.css';
import { Controls } from './controls.tsx';
import { LazyOpened } from './lazy-opened.tsx';
import { LobbyPage } from './lobby-page.tsx';
import { MutedHint } from './muted-hint.tsx';
import './hands.css';
import { NoticeList } from './notice-list.tsx';
import './owner/owner.css';
import './panels.css';
import { usePushToTalk } from './push-to-talk.ts';
import { ReactionLog } from './reactions.tsx';
import { SharingBar } from './screen-tile.tsx';
import type { CallSession } from './session.ts';
import { useShortcuts } from './shortcuts.ts';
import { RoomSound } from './sound.tsx';
import { Stage } from './stage.tsx';
import './tile.css';
import './screen.css';
import './self-view.css';
import { useMedia } from './use-media.ts';
import { useSecondsUntil } from './use-seconds.ts';
import { keepAwake } from './wake-lock.ts';

const BRIEF_MS = 1500;

export function CallPage({ session }: { readonly session: CallSession }) {
  const { connection } = session.snapshot.value;
  const turnAtMs = connection.status === 'arriving' ? connection.turnAtMs : null;
  // A page that appears for a moment only disturbs.
  const isLong = useMemo(() => turnAtMs !== null && turnAtMs - Date.now() > BRIEF_MS, [turnAtMs]);
  if (turnAtMs !== null && isLong) return <ArrivingPage session={session} turnAtMs={turnAtMs} />;
  if (connection.status === 'lobby-waiting')
    return <LobbyPage session={session} offline={connection.offline} />;
  return <CallRoom session={session} />;
}

function CallRoom({ session }: { readonly session: CallSession }) {
  const snapshot = session.snapshot.value;
  const panel = session.panel.value;
  const heading = usePageTitle(titleOf(session));
  // On a phone a panel covers the page: elements behind it must not get the focus.
  const sheet = useMedia('(max-width: 820px)') && panel !== 'none';
  useShortcuts(session);
  usePushToTalk(session);
  useEffect(keepAwake, []);
  useFocusBack(panel);

  return (
    <div
      class={`call${panel === 'none' ? '' : ' with-panel'}`}
      data-testid="call"
      data-status={snapshot.connection.status}
      data-pod={session.pod.value}
      data-room={snapshot.room}
      data-participant={snapshot.me.participant ?? ''}
    >
      <h1 class="visually-hidden" ref={heading} tabIndex={-1}>
        Call in {snapshot.room}
      </h1>
      <PendingRequests session={session} />
      <div class="call-room" inert={sheet}>
        <CallHead session={session} />
        <main class="call-stage">
          {session.screen.value && <SharingBar session={session} />}
          <Stage session={session} />
          <div class="stage-top">
            <ConnectionBanner session={session} />
            <MutedHint session={session} />
            <NoticeList session={session} />
          </div>
          <ReactionLog session={session} />
        </main>
        <Controls session={session} />
      </div>
      <LazyOpened session={session} />
      <RoomSound session={session} />
    </div>
  );
}

function titleOf(session: CallSession): string {
  const { room, lobby } = session.snapshot.value;
  const waiting = session.unread.value + lobby.length;
  return `${waiting > 0 ? `(${waiting}) ` : ''}${room} · Parley`;
}

/** One banner from the loss of the connection to its recovery. */
function ConnectionBanner({ session }: { readonly session: CallSession }) {
  const { connection } = session.snapshot.value;
  const turnAtMs = connection.status === 'recovering' ? connection.turnAtMs : null;
  const seconds = useSecondsUntil(turnAtMs);
  const text = bannerText(connection);
  return (
    <div role="status">
      {text && (
        <p class="banner" data-testid="banner">
          <span class="banner-dot" />
          {text}
          {turnAtMs !== null && (
            <span role="timer" aria-live="off" data-testid="banner-count">
              {timeLeft(seconds)}
            </span>
          )}
        </p>
      )}
    </div>
  );
}

function bannerText(connection: CallConnection): string | null {
  if (connection.status === 'joining' || connection.status === 'arriving') return 'Joining the room…';
  if (connection.status !== 'recovering') return null;
  if (connection.offline) return 'You are offline. The call resumes when your network returns.';
  if (connection.turnAtMs !== null) return 'Many people are reconnecting. You stay in the call.';
  if (connection.movingTo !== null)
    return `Your region does not answer. Reconnecting through ${connection.movingTo}. You stay in the call.`;
  return 'Reconnecting. You stay in the call.';
}

/** A panel that closes returns the focus to the button that opens it. */
function useFocusBack(panel: string): void {
  const before = useRef(panel);
  // Before the browser paints: otherwise no element has the focus for a moment.
  useLayoutEffect(() => {
    const closed = before.current;
    before.current = panel;
    if (panel !== 'none' || closed === 'none') return;
    document.querySelector<HTMLElement>(`[data-testid="control-${closed}"]`)?.focus();
  }, [panel]);
}
