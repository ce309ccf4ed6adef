/** A WebSocket that reconnects: at once if the relay asks for it, otherwise after a growing pause. */
import { closeReason, type DisconnectReason } from './disconnect-reasons.ts';
import { STABLE_MS, retryDelayMs } from '@parley/sdk/sfu/retry-delay';

export type Link =
  | { readonly at: 'connecting' }
  | { readonly at: 'open'; readonly since: number }
  | { readonly at: 'waiting'; readonly reason: DisconnectReason; readonly until: number }
  | { readonly at: 'stopped'; readonly reason: DisconnectReason };

export interface StreamSocketOptions {
  /** The address to connect to, or a refusal. A code in the address is valid for one socket, so that it is requested each time. */
  readonly address: () => Promise<{ readonly url: string } | { readonly refused: DisconnectReason }>;
  readonly onLink: (link: Link) => void;
  readonly onMessage: (message: string | Uint8Array) => void;
}

export class StreamSocket {
  readonly #options: StreamSocketOptions;
  #socket: WebSocket | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #tries = 0;
  /** Grows with every attempt: events of earlier ones are ignored. */
  #attempt = 0;

  constructor(options: StreamSocketOptions) {
    this.#options = options;
    addEventListener('online', this.#online);
  }

  connect(): void {
    this.#drop();
    const attempt = this.#attempt;
    this.#options.onLink({ at: 'connecting' });
    void this.#options.address().then((found) => {
      if (attempt !== this.#attempt) return;
      if ('refused' in found) this.#again(found.refused);
      else this.#open(found.url);
    });
  }

  close(): void {
    removeEventListener('online', this.#online);
    this.#drop();
  }

  readonly #online = (): void => {
    if (this.#timer !== undefined) this.connect();
  };

  #open(url: string): void {
    const socket = new WebSocket(url);
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    let openedAt: number | null = null;
    socket.addEventListener('open', () => {
      openedAt = performance.now();
      this.#options.onLink({ at: 'open', since: openedAt });
    });
    socket.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (socket === this.#socket)
        this.#options.onMessage(typeof data === 'string' ? data : new Uint8Array(data));
    });
    socket.addEventListener('close', (event) => {
      if (socket !== this.#socket) return;
      if (openedAt !== null && performance.now() - openedAt > STABLE_MS) this.#tries = 0;
      this.#again(closeReason(event, openedAt !== null));
    });
  }

  #again(reason: DisconnectReason): void {
    const ms = retryDelayMs(reason.again, this.#tries, Math.random());
    this.#drop();
    if (ms === null) {
      this.#tries = 0;
      this.#options.onLink({ at: 'stopped', reason });
      return;
    }
    this.#tries += 1;
    this.#timer = setTimeout(() => this.connect(), ms);
    this.#options.onLink({ at: 'waiting', reason, until: performance.now() + ms });
  }

  #drop(): void {
    this.#attempt += 1;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }
}
