import { socketPath, type JoinAnswer } from '@parley/protocol/http';
import { decodeServerMessage } from '@parley/protocol/decode';
import type { ServerMessage, Welcome } from '@parley/protocol/server-messages';

// A participant with no more than a WebSocket: `node caller.ts URL ROOM` prints its id when it was welcomed, and stays.

const enteredWithinMs = 10_000;

export class Caller {
  readonly socket: WebSocket;
  readonly welcome: Welcome;
  readonly #waiting = new Set<(message: ServerMessage) => void>();

  private constructor(socket: WebSocket, welcome: Welcome) {
    this.socket = socket;
    this.welcome = welcome;
    socket.addEventListener('message', ({ data }) => {
      const message = decoded(data);
      if (message !== undefined) for (const take of this.#waiting) take(message);
    });
  }

  static async enter(url: string, room: string): Promise<Caller> {
    const answer = await fetch(`${url}/v1/rooms/${room}/join`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    if (!answer.ok) throw new Error(`the join was refused: ${await answer.text()}`);
    const { ticket } = (await answer.json()) as JoinAnswer;
    const socket = new WebSocket(url.replace(/^http/, 'ws') + socketPath(room));
    const media = { audio: false, video: false, screen: false };
    socket.addEventListener('open', () =>
      socket.send(JSON.stringify({ type: 'enter', ticket, generation: 1, name: 'Ada', media })),
    );
    const { promise, resolve, reject } = Promise.withResolvers<Welcome>();
    socket.addEventListener('message', ({ data }) => {
      const message = decoded(data);
      if (message?.type === 'welcome') resolve(message);
    });
    socket.addEventListener('close', ({ code }) => reject(new Error(`not welcomed: ${code}`)));
    AbortSignal.timeout(enteredWithinMs).addEventListener('abort', () => reject(new Error('no welcome')));
    return new Caller(socket, await promise);
  }

  /** The next message that matches. */
  next(matches: (message: ServerMessage) => boolean, withinMs: number): Promise<ServerMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<ServerMessage>();
    const take = (message: ServerMessage): void => {
      if (matches(message)) resolve(message);
    };
    this.#waiting.add(take);
    const timer = setTimeout(() => reject(new Error(`not within ${withinMs} ms`)), withinMs);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(take);
    });
  }

  /** A line of chat. */
  say(id: string): void {
    this.socket.send(JSON.stringify({ type: 'chat', id, text: 'hello' }));
  }
}

function decoded(data: unknown): ServerMessage | undefined {
  const result = typeof data === 'string' ? decodeServerMessage(data) : undefined;
  return result?.ok === true ? result.message : undefined;
}

if (import.meta.main) {
  const [url = '', room = ''] = process.argv.slice(2);
  const { welcome } = await Caller.enter(url, room);
  console.log(welcome.participant);
}
