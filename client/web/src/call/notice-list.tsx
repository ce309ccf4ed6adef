import { Icon } from '../design/icon.tsx';
import type { CallSession } from './session.ts';

export function NoticeList({ session }: { readonly session: CallSession }) {
  const notices = session.notices.shown.value;
  return (
    <>
      <div class="visually-hidden" role="status" aria-live="polite">
        {notices.map((notice) => (
          <p key={notice.id}>{notice.text}</p>
        ))}
      </div>
      <ul class="call-notices">
        {notices
          .filter((notice) => notice.kind !== 'quiet')
          .map((notice) => (
            <li key={notice.id} class={`call-notice ${notice.kind}`} data-testid="notice">
              {notice.kind === 'trouble' && <Icon name="warning" />}
              {notice.kind === 'chat' && <Icon name="chat" />}
              <span>{notice.text}</span>
              {notice.kind === 'trouble' && (
                <button
                  type="button"
                  class="notice-close"
                  aria-label="Dismiss"
                  onClick={() => session.notices.dismiss(notice.id)}
                >
                  <Icon name="close" />
                </button>
              )}
            </li>
          ))}
      </ul>
    </>
  );
}
