/** A TCP connection to the edge that sends whatever bytes it is given: what an HTTP or WebSocket library never would. */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { Changes } from './changes.ts';

const ANSWER_WITHIN_MS = 15_000;
/** Frames of a server that is attacked are few; more than this is a server that does not stop. */
const KEPT_BYTES = 4_000_000;

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

export class Bytes {
  readonly stream: Socket;
  readonly changes = new Changes();
  #received: Buffer = Buffer.alloc(0);
  #isEnded = false;

  constructor(base: string, from: string) {
    const { hostname, port } = new URL(base);
    this.stream = connect({ host: hostname, port: Number(port), localAddress: from, allowHalfOpen: true });
    this.stream.on('data', (chunk: Buffer) => {
      if (this.#received.length < KEPT_BYTES) this.#received = Buffer.concat([this.#received, chunk]);
      this.changes.notify();
    });
    this.stream.on('error', () => this.#end());
    this.stream.on('end', () => this.#end());
    this.stream.on('close', () => this.#end());
  }

  /** Sends one request and returns its answer; the connection is closed. */
  static async exchange(base: string, from: string, request: string | Uint8Array): Promise<HttpAnswer> {
    const connection = new Bytes(base, from);
    try {
      connection.write(request);
      return await connection.answer();
    } finally {
      connection.destroy();
    }
  }

  /** Opens a WebSocket; the caller writes the frames. */
  static async webSocket(
    base: string,
    path: string,
    from: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Bytes> {
    const connection = new Bytes(base, from);
    connection.write(upgradeOf(base, path, headers));
    const { status, body } = await connection.answer();
    if (status === 101) return connection;
    connection.destroy();
    throw new Error(`the upgrade was refused: ${status} ${body}`);
  }

  get text(): string {
    return this.#received.toString('latin1');
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  write(bytes: string | Uint8Array): void {
    if (this.stream.writable) this.stream.write(bytes);
  }

  /** Status and body of the first answer; status 0 where the connection was closed without one. */
  async answer(withinMs = ANSWER_WITHIN_MS): Promise<HttpAnswer> {
    return this.changes.until('an answer', () => this.answers[0] ?? (this.isEnded && NOTHING), withinMs);
  }

  /** All answers that have come whole. */
  get answers(): readonly HttpAnswer[] {
    const found: HttpAnswer[] = [];
    let rest = this.text;
    for (;;) {
      const head = rest.indexOf('\r\n\r\n');
      const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(rest)?.[1] ?? Number.NaN);
      if (head === -1 || Number.isNaN(status)) return found;
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(rest.slice(0, head))?.[1] ?? 0);
      const body = rest.slice(head + 4, head + 4 + length);
      if (body.length < length && !this.isEnded) return found;
      found.push({ status, body });
      rest = rest.slice(head + 4 + length);
    }
  }

  /** The close code of the frame with which the server ended the WebSocket; undefined where it ended without one. */
  async closeCode(withinMs = ANSWER_WITHIN_MS): Promise<number | undefined> {
    await this.changes.until('the close', () => this.isEnded || this.#closeFrame() !== undefined, withinMs);
    return this.#closeFrame();
  }

  async ended(withinMs = ANSWER_WITHIN_MS): Promise<void> {
    await this.changes.until('the end of the connection', () => this.isEnded, withinMs);
  }

  destroy(): void {
    this.stream.destroy();
  }

  #end(): void {
    this.#isEnded = true;
    this.changes.notify();
  }

  /** A server's frames are not masked. */
  #closeFrame(): number | undefined {
    const bytes = this.#received;
    let at = bytes.indexOf('\r\n\r\n') + 4;
    while (at >= 4 && at + 2 <= bytes.length) {
      const opcode = (bytes[at] ?? 0) & 15;
      const short = (bytes[at + 1] ?? 0) & 127;
      const extended = short === 126 ? 2 : short === 127 ? 8 : 0;
      const payload = at + 2 + extended;
      if (payload > bytes.length) return undefined;
      const length =
        extended === 0 ? short : bytes.readUIntBE(payload - Math.min(extended, 6), Math.min(extended, 6));
      if (opcode === 8 && payload + 2 <= bytes.length) return bytes.readUInt16BE(payload);
      at = payload + length;
    }
    return undefined;
  }
}

const NOTHING: HttpAnswer = { status: 0, body: '' };

/** The head of an upgrade request. */
export function upgradeOf(
  base: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  const lines = Object.entries({
    host: new URL(base).host,
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
