/** Short messages above the call: shown for a while and read by screen readers. */
import { signal } from '@preact/signals';

/** `quiet` is only read by screen readers: a user who pressed the button sees the result. */
export type NoticeKind = 'quiet' | 'info' | 'chat' | 'trouble';
export interface CallNotice {
  readonly id: number;
  readonly kind: NoticeKind;
  readonly text: string;
}

/** Long enough to read one line; `trouble` has two. */
const SHOWN_MS: Record<NoticeKind, number> = { quiet: 3000, info: 4000, chat: 6000, trouble: 9000 };
/** More notices would cover the video. */
const MAX_SHOWN = 3;
/** Of a chat line, which the panel shows whole. What the page says itself is never cut. */
const MAX_CHAT_CHARS = 160;

export class Notices {
  readonly shown = signal<readonly CallNotice[]>([]);
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #next = 1;

  show(text: string, kind: NoticeKind): void {
    const notice = {
      id: this.#next++,
      kind,
      text: kind === 'chat' && text.length > MAX_CHAT_CHARS ? `${text.slice(0, MAX_CHAT_CHARS)}…` : text,
    };
    this.shown.value = [...this.shown.peek(), notice].slice(-MAX_SHOWN);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.dismiss(notice.id);
    }, SHOWN_MS[kind]);
    this.#timers.add(timer);
  }

  dismiss(id: number): void {
    this.shown.value = this.shown.peek().filter((notice) => notice.id !== id);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
