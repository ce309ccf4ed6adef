import type { ChatEntry } from '@parley/sdk/call';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import { Composer } from './chat-composer.tsx';
import { chatGroups, textParts, type ChatGroup } from './chat-text.ts';
import { readFileLine } from './files/file-line.ts';
import { shareFiles } from './files/files-of.ts';
import { SharedFile } from './files/shared-file.tsx';
import { Panel } from './panel.tsx';
import type { CallSession } from './session.ts';

/** The distance from the end at which the list still follows new lines. */
const NEAR_END_PX = 80;

export function ChatPanel({ session }: { readonly session: CallSession }) {
  const entries = session.snapshot.value.chat;
  const list = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    const element = list.current;
    if (element && atEnd.current) element.scrollTop = element.scrollHeight;
  }, [entries]);

  return (
    <Panel title="Chat" testid="chat-panel" onClose={() => (session.panel.value = 'none')}>
      <div
        ref={list}
        class="chat-list"
        role="log"
        aria-label="Messages"
        aria-live="polite"
        tabIndex={0}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          void shareFiles(session, event.dataTransfer?.files);
        }}
        onScroll={(event) => {
          const { scrollHeight, scrollTop, clientHeight } = event.currentTarget;
          atEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
        }}
      >
        {session.joinedLate.value && (
          <p class="chat-earlier soft small" data-testid="chat-earlier">
            You joined a call that had begun. Messages from before are not shown.
          </p>
        )}
        {entries.length === 0 && (
          <p class="chat-empty soft">
            <Icon name="chat" />
            No messages yet. Everyone in the call can read what you write here.
          </p>
        )}
        {chatGroups(entries).map((group) => (
          <Group key={group.entries[0]?.id} group={group} session={session} />
        ))}
      </div>
      <Composer session={session} />
    </Panel>
  );
}

function Group({ group, session }: { readonly group: ChatGroup; readonly session: CallSession }) {
  return (
    <section class={`chat-group${group.mine ? ' mine' : ''}`}>
      <p class="chat-who small">
        <strong>{group.mine ? 'You' : group.name}</strong>{' '}
        <time class="soft" dateTime={new Date(group.at).toISOString()}>
          {new Date(group.at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })}
        </time>
      </p>
      {group.entries.map((entry) => (
        <Line key={entry.id} entry={entry} session={session} />
      ))}
    </section>
  );
}

function Bubble({ text }: { readonly text: string }) {
  return (
    <p class="chat-bubble">
      {textParts(text).map((part, index) =>
        part.link ? (
          <a key={index} href={part.text} target="_blank" rel="noopener noreferrer">
            {part.text}
          </a>
        ) : (
          part.text
        ),
      )}
    </p>
  );
}

function Line({ entry, session }: { readonly entry: ChatEntry; readonly session: CallSession }) {
  const file = readFileLine(entry.text, location.origin);
  return (
    <div class={`chat-line ${entry.status}`} data-testid="chat-line" data-status={entry.status}>
      {file === null ? <Bubble text={entry.text} /> : <SharedFile file={file} session={session} />}
      {entry.status === 'sending' && <span class="chat-state soft small">Sending…</span>}
      {entry.status === 'refused' && (
        <span class="chat-state chat-refused small">
          Not sent.
          <button type="button" class="text-button" onClick={() => session.sendChat(entry.text)}>
            Send again
          </button>
        </span>
      )}
    </div>
  );
}
