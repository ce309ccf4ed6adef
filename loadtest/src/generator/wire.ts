/**
 * One client socket, on raw TCP: the `ws` package costs a client more than it costs the server, and then the generator would be what is
 * measured. What is said in one turn of the event loop leaves in one write.
 */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { CLOSE, FrameReader, PING, PONG, TEXT, writeHead } from '../frames.ts';
import type { Target } from './dialect.ts';

export interface WireListener {
  onOpen(): void;
  /** The message is `bytes[start, end)`, valid during the call only. */
  onMessage(bytes: Buffer, start: number, end: number): void;
  /** Also where the server refused or broke the connection; not after `close`. */
  onLost(why: string): void;
}

/**
 * One mask for the whole run, no byte of it zero: the constant part of a payload is masked once. A browser must choose a new mask for every
 * frame; the server's work is the same.
 */
const MASK = Buffer.from(randomBytes(4).map((byte) => byte || 0x5a));

/** Text that is sent often: masked for each of the four places in the mask where it may start. */
export type Masked = readonly [Buffer, Buffer, Buffer, Buffer];

export function maskedText(text: string): Masked {
  const at = (shift: number): Buffer =>
    Buffer.from(Buffer.from(text, 'latin1').map((byte, index) => byte ^ (MASK[(index + shift) & 3] ?? 0)));
  return [at(0), at(1), at(2), at(3)];
}

// All sockets read into the same bytes: a callback is done with them before the next one runs.
const READ_BUFFER = Buffer.allocUnsafeSlow(256 * 1024);
const KEY = randomBytes(16).toString('base64');
const FIRST_BYTES = 512;
const HEAD_AND_MASK = 14;

let dirty: Wire[] = [];
function flushAll(): void {
  const wires = dirty;
  dirty = [];
  for (const wire of wires) wire.flush();
}

export class Wire {
  readonly #socket: Socket;
  readonly #listener: WireListener;
  readonly #frames = new FrameReader();
  #handshake: string | undefined = '';
  #out = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;
  #closing = false;

  constructor(target: Target, path: string, listener: WireListener) {
    this.#listener = listener;
    const onData = (size: number): boolean => {
      this.#onData(READ_BUFFER.subarray(0, size));
      return true;
    };
    this.#socket = connect({ ...target, noDelay: true, onread: { buffer: READ_BUFFER, callback: onData } });
    this.#socket.on('error', (error) => this.#lost(error.message));
    this.#socket.on('close', () => this.#lost('closed'));
    this.#socket.write(
      `GET ${path} HTTP/1.1\r\nhost: ${target.host}:${target.port}\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${KEY}\r\n\r\n`,
    );
  }

  sendText(text: string): void {
    const bytes = Buffer.from(text);
    this.#begin(TEXT, bytes.length);
    for (let at = 0; at < bytes.length; at += 1) {
      this.#out[this.#length + at] = (bytes[at] ?? 0) ^ (MASK[at & 3] ?? 0);
    }
    this.#length += bytes.length;
  }

  /** One text message of an ASCII head and a tail that was masked before. */
  sendParts(head: string, tail: Masked): void {
    const shifted = tail[(head.length & 3) as 0 | 1 | 2 | 3];
    this.#begin(TEXT, head.length + shifted.length);
    const out = this.#out;
    const from = this.#length;
    for (let at = 0; at < head.length; at += 1) out[from + at] = head.charCodeAt(at) ^ (MASK[at & 3] ?? 0);
    shifted.copy(out, from + head.length);
    this.#length = from + head.length + shifted.length;
  }

  #begin(opcode: number, length: number): void {
    this.#room(HEAD_AND_MASK + length);
    if (this.#length === 0) {
      if (dirty.length === 0) setImmediate(flushAll);
      dirty.push(this);
    }
    const at = writeHead(this.#out, this.#length, opcode, length, 0x80);
    MASK.copy(this.#out, at);
    this.#length = at + 4;
  }

  #room(more: number): void {
    if (this.#length + more <= this.#out.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.#length + more));
    this.#out.copy(larger, 0, 0, this.#length);
    this.#out = larger;
  }

  flush(): void {
    if (this.#length === 0) return;
    const size = this.#length;
    this.#length = 0;
    if (this.#socket.destroyed) return;
    this.#socket.write(this.#out.subarray(0, size));
    // The kernel took it all, nearly always; otherwise the bytes are still needed.
    if (this.#socket.writableLength > 0) this.#out = Buffer.allocUnsafe(FIRST_BYTES);
  }

  #onData(chunk: Buffer): void {
    if (this.#handshake !== undefined) {
      this.#onHandshake(chunk);
      return;
    }
    const isFine = this.#frames.feed(chunk, (opcode, bytes, start, end) =>
      this.#onFrame(opcode, bytes, start, end),
    );
    if (!isFine) this.#lost('a frame that is none');
  }

  #onHandshake(chunk: Buffer): void {
    const text = (this.#handshake ?? '') + chunk.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    this.#handshake = text;
    if (end === -1) return;
    if (!text.startsWith('HTTP/1.1 101 ')) {
      this.#lost(`no upgrade: ${text.slice(0, 300)}`);
      return;
    }
    this.#handshake = undefined;
    this.#listener.onOpen();
    const rest = text.slice(end + 4);
    if (rest !== '') this.#onData(Buffer.from(rest, 'latin1'));
  }

  #onFrame(opcode: number, bytes: Buffer, start: number, end: number): void {
    if (opcode === TEXT) {
      if (!this.#closing) this.#listener.onMessage(bytes, start, end);
    } else if (opcode === PING) {
      this.#begin(PONG, 0);
    } else if (opcode === CLOSE) {
      if (!this.#closing) this.#lost(`closed ${bytes.toString('utf8', start + 2, end)}`);
      else this.#answerClose();
    } else {
      this.#lost(`opcode ${opcode}`);
    }
  }

  /** The server has sent its close frame too, as RFC 6455 requires after ours; the end of the connection follows. */
  #answerClose(): void {
    this.flush();
    this.#socket.end();
  }

  /** Leaves: says `leave` where the dialect has such a word, then closes as RFC 6455 has it. */
  close(leave: string | null): void {
    if (this.#closing) return;
    if (leave !== null) this.sendText(leave);
    this.#closing = true;
    this.#begin(CLOSE, 2);
    this.#out[this.#length] = 0x03 ^ (MASK[0] ?? 0);
    this.#out[this.#length + 1] = 0xe8 ^ (MASK[1] ?? 0);
    this.#length += 2;
  }

  #lost(why: string): void {
    if (!this.#closing) {
      this.#closing = true;
      this.#listener.onLost(why);
    }
    this.#socket.destroy();
  }
}
