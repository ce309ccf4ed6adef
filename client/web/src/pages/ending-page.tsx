import type { EndReason } from '@parley/sdk/call';
import { useEffect, useState } from 'preact/hooks';
import { ENDINGS, type Ending, type NextStep } from '../text/endings.ts';
import type { IconName } from '../design/icon.tsx';
import { go } from '../navigate.ts';
import { newRoom } from './new-room.ts';
import { Notice } from './notice.tsx';
import { jitterMs, waitMs } from './waiting.ts';

export interface EndingPageProps {
  readonly reason: EndReason;
  readonly retryAfterMs: number | null;
  /** The number of automatic attempts so far. */
  readonly tries: number;
  /** `user`: the user asked for it, who may want to see the preview first; otherwise automatic. */
  readonly onAgain: (by: 'user' | 'timer') => void;
}

const ICONS: Partial<Record<EndReason, IconName>> = {
  left: 'wave',
  unreachable: 'cloud',
  ROOM_FULL: 'people',
  ROOM_LOCKED: 'lock',
  REPLACED: 'tabs',
  ROOM_DELETED: 'trash',
  CALL_ENDED: 'leave',
  ROOM_INVALID: 'link',
  ROOM_HOME_UNREACHABLE: 'cloud',
  BANNED: 'door',
  KICKED: 'door',
  LOBBY_DENIED: 'door',
  LOBBY_TIMEOUT: 'door',
  OWNER_KEY_INVALID: 'key',
};
const MOOD_ICONS: Record<Ending['mood'], IconName> = {
  goodbye: 'wave',
  wait: 'people',
  closed: 'info',
  fault: 'warning',
};

const LABELS: Record<NextStep, string> = {
  rejoin: 'Join again',
  retry: 'Try now',
  'ask-again': 'Ask again',
  'as-guest': 'Join as a guest',
  'use-here': 'Use it here',
  'new-room': 'New room',
  home: 'Start page',
  reload: 'Load the page again',
};

export function EndingPage({ reason, retryAfterMs, tries, onAgain }: EndingPageProps) {
  const ending = ENDINGS[reason];
  return (
    <Notice
      icon={ICONS[reason] ?? MOOD_ICONS[ending.mood]}
      mood={ending.mood}
      title={ending.title}
      testid={`ended-${reason}`}
    >
      <p>{ending.body}</p>
      {ending.auto && <Countdown ms={waitMs(retryAfterMs, tries)} onDone={() => onAgain('timer')} />}
      <div class="actions">
        {ending.next.map((step, index) => (
          <button
            key={step}
            type="button"
            class={`button${index === 0 ? ' primary' : ''}`}
            data-testid={`next-${step}`}
            onClick={() => take(step, onAgain)}
          >
            {LABELS[step]}
          </button>
        ))}
      </div>
    </Notice>
  );
}

function take(step: NextStep, onAgain: EndingPageProps['onAgain']): void {
  switch (step) {
    case 'rejoin':
    case 'retry':
    case 'ask-again':
    case 'as-guest':
    case 'use-here':
      onAgain('user');
      return;
    case 'new-room':
      void newRoom();
      return;
    case 'home':
      go('/');
      return;
    case 'reload':
      location.reload();
  }
}

/** Counts down while the network is up; without one it waits, and continues at once when the network returns. */
function Countdown({ ms: least, onDone }: { readonly ms: number; readonly onDone: () => void }) {
  const [ms] = useState(() => least + jitterMs());
  const [left, setLeft] = useState(Math.ceil(ms / 1000));
  const [online, setOnline] = useState(navigator.onLine);

  useEffect(() => {
    const back = () => onDone();
    const gone = () => setOnline(false);
    addEventListener('online', back);
    addEventListener('offline', gone);
    return () => {
      removeEventListener('online', back);
      removeEventListener('offline', gone);
    };
  }, []);

  useEffect(() => {
    if (!online) return undefined;
    const until = performance.now() + ms;
    const timer = setInterval(() => {
      const remaining = Math.ceil((until - performance.now()) / 1000);
      setLeft(Math.max(0, remaining));
      if (remaining > 0) return;
      clearInterval(timer);
      onDone();
    }, 250);
    return () => clearInterval(timer);
  }, [online, ms]);

  return (
    <p class="notice-count" role="timer" data-testid="countdown">
      {online ? `Next try in ${left} s` : 'You are offline. Waiting for your network.'}
    </p>
  );
}
