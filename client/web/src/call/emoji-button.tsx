import { useRef, useState } from 'preact/hooks';
import { CallIcon } from './call-icon.tsx';
import { EMOJI } from './emoji.ts';
import { EmojiGrid } from './emoji-grid.tsx';
import { useCloseOutside } from './use-close-outside.ts';

interface EmojiButtonProps {
  readonly onPick: (emoji: string) => void;
  /** With Escape, or after a choice. */
  readonly onClose: () => void;
}

/** Inserts an emoji in the message. */
export function EmojiButton({ onPick, onClose }: EmojiButtonProps) {
  const element = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  useCloseOutside(element, open, () => setOpen(false));
  return (
    <div
      ref={element}
      class="emoji-button"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return;
        event.stopPropagation();
        setOpen(false);
        onClose();
      }}
    >
      <button
        type="button"
        class="button quiet icon-only"
        data-testid="chat-emoji"
        aria-label="Insert an emoji"
        title="Insert an emoji"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <CallIcon name="smile" />
      </button>
      {open && (
        <div class="emoji-menu">
          <EmojiGrid
            emoji={EMOJI}
            label="Emoji"
            testid="emoji-picker"
            onPick={(emoji) => {
              onPick(emoji);
              setOpen(false);
              onClose();
            }}
          />
        </div>
      )}
    </div>
  );
}
