/** POST over kept connections, one request at a time on each, as a proxy in front of the server does it. Lean: `fetch` costs ten times as much. */
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

  post(target: Target, path: string, body: string): Promise<Answer> {
    const key = `${target.host}:${target.port}`;
    const idle = this.#idle.get(key) ?? [];
    this.#idle.set(key, idle);
    const line = idle.pop() ?? this.#open(target);
    const request = `POST ${path} HTTP/1.1\r\nhost: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    return new Promise((resolve, reject) => {
      line.ask(request, {
        resolve(answer) {
          idle.push(line);
          resolve(answer);
        },
        reject,
      });
    });
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

class Line {
  readonly #socket: Socket;
  #pending: Pending | undefined;
  #text = '';

  constructor({ host, port }: Target) {
    this.#socket = connect({ host, port, noDelay: true });
    this.#socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('the server closed a kept HTTP connection')));
  }

  ask(request: string, pending: Pending): void {
    this.#pending = pending;
    this.#socket.write(request);
  }

  #onData(chunk: Buffer): void {
    // Answers are ASCII: bytes and characters are the same.
    this.#text += chunk.toString('latin1');
    const head = this.#text.indexOf('\r\n\r\n');
    if (head === -1) return;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(this.#text.slice(0, head + 2))?.[1]);
    if (Number.isNaN(length)) return this.#fail(new Error('an answer without content-length'));
    if (this.#text.length < head + 4 + length) return undefined;
    const answer = { status: Number(this.#text.slice(9, 12)), body: this.#text.slice(head + 4) };
    this.#text = '';
    const pending = this.#pending;
    this.#pending = undefined;
    return pending?.resolve(answer);
  }

  #fail(error: Error): void {
    this.#pending?.reject(error);
    this.#pending = undefined;
  }

  close(): void {
    this.#socket.destroy();
  }
}
