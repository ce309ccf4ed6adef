import { CHAT_LIMITS } from '@parley/protocol/chat-limits';
import { useRef, useState } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import { EmojiButton } from './emoji-button.tsx';
import { withEmoji } from './emoji.ts';
import { FileButton, FileTrouble } from './files/file-button.tsx';
import { pasteFiles } from './files/files-of.ts';
import type { CallSession } from './session.ts';

const MAX_CHARS = CHAT_LIMITS['chat.chars'].value;
/** From this length on the remaining characters are shown. */
const COUNT_FROM = MAX_CHARS - 200;

/** The field for a message. */
export function Composer({ session }: { readonly session: CallSession }) {
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  const left = MAX_CHARS - Array.from(text).length;

  function send(): void {
    if (text.trim() === '') return;
    if (session.sendChat(text.trim())) setText('');
  }

  function insert(emoji: string): void {
    const area = field.current;
    if (!area) return;
    const place = { start: area.selectionStart, end: area.selectionEnd };
    const { text: next, caret } = withEmoji(area.value, emoji, place);
    setText(next);
    // Now, or the caret would be at the end.
    area.value = next;
    area.setSelectionRange(caret, caret);
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onPaste={(event) => pasteFiles(session, event)}
    >
      <label class="visually-hidden" for="chat-text">
        Message to everyone
      </label>
      <span class="composer-tools">
        <EmojiButton onPick={insert} onClose={() => field.current?.focus()} />
        <FileButton session={session} />
      </span>
      <textarea
        ref={field}
        id="chat-text"
        class="input"
        data-testid="chat-input"
        rows={1}
        placeholder="Message everyone"
        value={text}
        aria-invalid={left < 0}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <SendButton disabled={text.trim() === '' || left < 0} />
      {text.length > COUNT_FROM && <CharactersLeft left={left} />}
      <FileTrouble session={session} />
    </form>
  );
}

function CharactersLeft({ left }: { readonly left: number }) {
  return (
    <p class={`composer-left small ${left < 0 ? 'field-problem' : 'soft'}`} role="status">
      {left < 0 ? `${-left} characters too many` : `${left} characters left`}
    </p>
  );
}

function SendButton({ disabled }: { readonly disabled: boolean }) {
  return (
    <button
      type="submit"
      class="button primary icon-only"
      aria-label="Send"
      data-testid="chat-send"
      disabled={disabled}
    >
      <Icon name="send" />
    </button>
  );
}
