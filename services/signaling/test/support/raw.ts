/** A WebSocket client that writes bytes, for messages that a well-behaved client never sends. Source: RFC 6455. */
import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { connect, type Socket } from 'node:net';
import { socketPath } from '@parley/protocol/http';
import { PAGES_SOCKET } from '@parley/protocol/pages';
import { within } from './deadline.ts';

export interface Frame {
  readonly opcode: number;
  readonly payload?: string | Uint8Array;
  readonly fin?: boolean;
  /** RSV1 to RSV3, as the upper three bits of a nibble. */
  readonly reserved?: number;
  readonly masked?: boolean;
}

export const TEXT = 1;
export const CONTINUATION = 0;
export const PING = 9;

/** The bytes of one frame as a client sends it. */
export function frame({ opcode, payload = '', fin = true, reserved = 0, masked = true }: Frame): Buffer {
  const data = Buffer.from(payload);
  const mask = masked ? Buffer.from([1, 2, 3, 4]) : Buffer.alloc(0);
  const first = (fin ? 0x80 : 0) | (reserved << 4) | opcode;
  const length = lengthOf(data.length, masked ? 0x80 : 0);
  const body = masked ? data.map((byte, at) => byte ^ (mask[at & 3] ?? 0)) : data;
  return Buffer.concat([Buffer.from([first]), length, mask, body]);
}

function lengthOf(length: number, maskBit: number): Buffer {
  if (length < 126) return Buffer.from([maskBit | length]);
  if (length < 65_536) return Buffer.from([maskBit | 126, length >> 8, length & 255]);
  const bytes = Buffer.alloc(9);
  bytes[0] = maskBit | 127;
  bytes.writeBigUInt64BE(BigInt(length), 1);
  return bytes;
}

/** The head of an upgrade request. */
export function upgradeHead(room: string, headers: Record<string, string> = {}): string {
  return upgradeAt(socketPath(room), headers);
}

function upgradeAt(path: string, headers: Record<string, string> = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return [
    `GET ${path} HTTP/1.1\r\nHost: pod\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`,
    `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n`,
    ...lines,
    '\r\n',
  ].join('');
}

export class RawClient {
  readonly stream: Socket;
  #received = Buffer.alloc(0);
  #isClosed = false;
  readonly #events = new EventEmitter();

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    // It closes nothing by itself: a half-open connection is a case of its own.
    this.stream = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    this.stream.on('data', (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#events.emit('news');
    });
    this.stream.on('error', () => {});
    this.stream.on('end', () => this.#events.emit('news'));
    this.stream.on('close', () => {
      this.#isClosed = true;
      this.#events.emit('news');
    });
  }

  /** Connects and upgrades; the caller decides what is sent next. */
  static open(url: string, room: string, headers: Record<string, string> = {}): Promise<RawClient> {
    return RawClient.#upgraded(url, upgradeHead(room, headers));
  }

  /** The same, as a visitor of pages. */
  static openPages(url: string, headers: Record<string, string> = {}): Promise<RawClient> {
    return RawClient.#upgraded(url, upgradeAt(PAGES_SOCKET, headers));
  }

  static async #upgraded(url: string, head: string): Promise<RawClient> {
    const raw = new RawClient(url);
    raw.write(head);
    await raw.until('the upgrade', () => raw.text.includes('\r\n\r\n'));
    return raw;
  }

  get text(): string {
    return this.#received.toString('latin1');
  }

  get isEnded(): boolean {
    return this.#isClosed || this.stream.readableEnded;
  }

  write(bytes: string | Uint8Array): void {
    if (this.stream.writable) this.stream.write(bytes);
  }

  sendMessage(message: object): void {
    this.write(frame({ opcode: TEXT, payload: JSON.stringify(message) }));
  }

  /** The close code of the pod's close frame. */
  async closeCode(timeoutMs = 5000): Promise<number> {
    await this.until('a close frame', () => this.#closeFrame() !== undefined || this.isEnded, timeoutMs);
    const code = this.#closeFrame();
    if (code === undefined) throw new Error(`ended without a close frame: ${this.text.slice(-200)}`);
    return code;
  }

  /** The pod closed the connection, without any action of this side. */
  async ended(timeoutMs = 5000): Promise<void> {
    await this.until('the end', () => this.isEnded, timeoutMs);
  }

  async until(what: string, look: () => boolean, timeoutMs = 5000): Promise<void> {
    const seen = new Promise<void>((resolve) => {
      const check = (): void => {
        if (!look()) return;
        this.#events.off('news', check);
        resolve();
      };
      this.#events.on('news', check);
      check();
    });
    await within(what, seen, timeoutMs);
  }

  destroy(): void {
    this.stream.destroy();
  }

  /** Frames from a pod are unmasked. */
  #closeFrame(): number | undefined {
    const head = this.#received.indexOf('\r\n\r\n');
    if (head === -1) return undefined;
    let at = head + 4;
    while (at + 2 <= this.#received.length) {
      const opcode = (this.#received[at] ?? 0) & 15;
      let length = (this.#received[at + 1] ?? 0) & 127;
      let payloadAt = at + 2;
      if (length === 126) {
        if (at + 4 > this.#received.length) return undefined;
        length = this.#received.readUInt16BE(at + 2);
        payloadAt = at + 4;
      } else if (length === 127) {
        if (at + 10 > this.#received.length) return undefined;
        length = Number(this.#received.readBigUInt64BE(at + 2));
        payloadAt = at + 10;
      }
      if (opcode === 8 && payloadAt + 2 <= this.#received.length)
        return this.#received.readUInt16BE(payloadAt);
      at = payloadAt + length;
    }
    return undefined;
  }
}
