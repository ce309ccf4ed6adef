/** POST over kept connections, one request at a time on each, as a proxy in front of the server does it. Lean: `fetch` costs ten times as much. */
import { performance } from 'node:perf_hooks';
import { connect, type Socket } from 'node:net';
import type { Target } from './dialect.ts';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

interface Pending {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

export class HttpPool {
  readonly #idle = new Map<string, Line[]>();
  readonly #all = new Set<Line>();

  /**
   * A server may close a kept connection in the instant in which a request is sent on it. A request that had no byte of an answer by then is sent
   * once more, on a new connection.
   */
  async post(target: Target, path: string, body: string): Promise<Answer> {
    const key = `${target.host}:${target.port}`;
    const request = `POST ${path} HTTP/1.1\r\nhost: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    const kept = this.#kept(key);
    try {
      return await this.#ask(kept ?? this.#open(target), key, request);
    } catch (error) {
      if (kept === undefined || !(error instanceof ClosedUnanswered)) throw error;
      return this.#ask(this.#open(target), key, request);
    }
  }

  /** A connection that the server has not closed, and does not close in the next moment. */
  #kept(key: string): Line | undefined {
    const idle = this.#idle.get(key);
    for (let line = idle?.pop(); line !== undefined; line = idle?.pop()) {
      if (line.mayAsk(performance.now())) return line;
      line.close();
      this.#all.delete(line);
    }
    return undefined;
  }

  async #ask(line: Line, key: string, request: string): Promise<Answer> {
    try {
      const answer = await line.ask(request);
      const idle = this.#idle.get(key) ?? [];
      this.#idle.set(key, idle);
      idle.push(line);
      return answer;
    } catch (error) {
      line.close();
      this.#all.delete(line);
      throw error;
    }
  }

  #open(target: Target): Line {
    const line = new Line(target);
    this.#all.add(line);
    return line;
  }

  close(): void {
    for (const line of this.#all) line.close();
  }
}

/** The server closed the connection before the first byte of an answer. */
class ClosedUnanswered extends Error {}

/** How long before the server's own timeout a connection is not used again: the request has to arrive by then. */
const REUSE_MARGIN_MS = 1000;
/** Where the server names no timeout: Node's. */
const KEEP_ALIVE_S = 5;

class Line {
  readonly #socket: Socket;
  #pending: Pending | undefined;
  #text = '';
  #isClosed = false;
  #reuseUntil = Infinity;

  constructor({ host, port }: Target) {
    this.#socket = connect({ host, port, noDelay: true });
    this.#socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    this.#socket.on('error', (error) => this.#onClosed(error.message));
    // The server sends no more: a request that is sent now has no answer.
    this.#socket.on('end', () => this.#onClosed('the server closed the connection'));
    this.#socket.on('close', () => this.#onClosed('closed'));
  }

  mayAsk(now: number): boolean {
    return !this.#isClosed && now < this.#reuseUntil;
  }

  ask(request: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#socket.write(request);
    });
  }

  #onData(chunk: Buffer): void {
    // Answers are ASCII: bytes and characters are the same.
    this.#text += chunk.toString('latin1');
    const end = this.#text.indexOf('\r\n\r\n');
    if (end === -1) return;
    const head = this.#text.slice(0, end + 2);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1]);
    if (Number.isNaN(length)) return this.#fail(new Error('an answer without content-length'));
    if (this.#text.length < end + 4 + length) return undefined;
    const answer = { status: Number(head.slice(9, 12)), body: this.#text.slice(end + 4) };
    const keepS = /\r\nconnection: *close/i.test(head)
      ? 0
      : Number(/\r\nkeep-alive:.*timeout=(\d+)/i.exec(head)?.[1] ?? KEEP_ALIVE_S);
    this.#reuseUntil = performance.now() + 1000 * keepS - REUSE_MARGIN_MS;
    this.#text = '';
    const pending = this.#pending;
    this.#pending = undefined;
    return pending?.resolve(answer);
  }

  #onClosed(why: string): void {
    this.#isClosed = true;
    const isUnanswered = this.#text === '';
    this.#fail(
      isUnanswered ? new ClosedUnanswered(`no answer: ${why}`) : new Error(`half an answer: ${why}`),
    );
  }

  #fail(error: Error): void {
    this.#pending?.reject(error);
    this.#pending = undefined;
  }

  close(): void {
    this.#socket.destroy();
  }
}
