/** What sends to a topic: ffmpeg's test pictures, or text. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { WebSocket } from 'ws';

/** 25 pictures a second with a moving bar and a counter, and a tone; `encode` chooses the codecs. */
const testSource = (size: string): string[] =>
  `-hide_banner -loglevel error -re -f lavfi -i testsrc=size=${size}:rate=25 -f lavfi -i sine=frequency=440`.split(
    ' ',
  );

export const ENCODERS = {
  h264: '-c:v libx264 -preset ultrafast -tune zerolatency -pix_fmt yuv420p -g 25 -b:v 400k -c:a aac',
  mpeg1: '-c:v mpeg1video -b:v 400k -g 12 -bf 0 -c:a mp2',
  mpeg2: '-c:v mpeg2video -b:v 400k -c:a mp2',
  h264WithMp2: '-c:v libx264 -preset ultrafast -tune zerolatency -pix_fmt yuv420p -g 25 -c:a mp2',
} as const;

export interface Sender {
  /** What ffmpeg makes from now on is lost, or not any more. */
  lose(on: boolean): void;
  close(): Promise<void>;
}

/** Publishes an MPEG-TS from ffmpeg's pipe, and continues after a failure of its relay. */
export async function sendPicture(
  url: string,
  encoder: keyof typeof ENCODERS,
  { size = '320x240' } = {},
): Promise<Sender> {
  const codecs = ENCODERS[encoder].split(' ');
  const ffmpeg = spawn('ffmpeg', [...testSource(size), ...codecs, '-f', 'mpegts', '-'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const socket = new LastingSocket(url);
  let losing = false;
  ffmpeg.stdout.on('data', (chunk: Buffer) => losing || socket.send(chunk));
  await socket.open();
  return {
    lose(on) {
      losing = on;
    },
    async close() {
      socket.close();
      if (ffmpeg.exitCode !== null || ffmpeg.signalCode !== null) return;
      ffmpeg.kill('SIGKILL');
      await once(ffmpeg, 'exit');
    },
  };
}

/** A plain client of a topic. */
export async function openSocket(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url);
  await once(socket, 'open');
  return socket;
}

const AGAIN_MS = 200;

class LastingSocket {
  readonly #url: string;
  #socket: WebSocket;
  #closed = false;

  constructor(url: string) {
    this.#url = url;
    this.#socket = this.#connect();
  }

  async open(): Promise<void> {
    await once(this.#socket, 'open');
  }

  send(chunk: Buffer): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(chunk);
  }

  close(): void {
    this.#closed = true;
    this.#socket.terminate();
  }

  #connect(): WebSocket {
    const socket = new WebSocket(this.#url);
    socket.on('error', () => {});
    socket.on('close', () => {
      if (!this.#closed) setTimeout(() => (this.#socket = this.#connect()), AGAIN_MS);
    });
    return socket;
  }
}
