/** A call that a script drives: it keeps what it was asked to do and shows the snapshot it is given. */
import type { Call, CallSnapshot } from '@parley/sdk/call';

export class FakeCall implements Call {
  readonly asked: string[] = [];
  readonly #listeners = new Set<() => void>();
  #snapshot: CallSnapshot;

  constructor(snapshot: CallSnapshot) {
    this.#snapshot = snapshot;
  }

  snapshot(): CallSnapshot {
    return this.#snapshot;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  show(changes: Partial<CallSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...changes };
    for (const listener of this.#listeners) listener();
  }

  setMicrophone(track: MediaStreamTrack | null): void {
    this.#media('audio', track !== null);
  }

  setCamera(track: MediaStreamTrack | null): void {
    this.#media('video', track !== null);
  }

  setScreen(stream: MediaStream | null): void {
    this.#media('screen', stream !== null);
  }

  rename(name: string): void {
    this.asked.push(`rename ${name}`);
    this.show({ me: { ...this.#snapshot.me, name } });
  }

  sendChat(text: string): boolean {
    this.asked.push(`chat ${text}`);
    const { me, chat } = this.#snapshot;
    const id = `mine-${chat.length}`.padEnd(8, '0');
    const from = me.participant ?? '';
    const line = { id, from, name: me.name, text, at: Date.now(), mine: true, status: 'taken' } as const;
    this.show({ chat: [...chat, line] });
    return true;
  }

  leave(): void {
    this.asked.push('leave');
    this.show({ connection: { status: 'ended', reason: 'left', retry: true, retryAfterMs: null } });
  }

  #media(kind: 'audio' | 'video' | 'screen', on: boolean): void {
    this.asked.push(`${kind} ${on ? 'on' : 'off'}`);
    const { me } = this.#snapshot;
    if (me.media[kind] !== on) this.show({ me: { ...me, media: { ...me.media, [kind]: on } } });
  }
}
