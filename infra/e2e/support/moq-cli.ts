/** moq-cli, a client of MoQ that others wrote, as it is. `make test-stock` builds it. */
import {
  execFileSync,
  spawn,
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
} from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, statSync } from 'node:fs';
import { findMoqCli } from '@parley/local/tools';
import { until } from './until.ts';

/** How a client reaches a relay. */
export const WAYS = ['WebTransport', 'raw QUIC', 'WebSocket'] as const;
export type Way = (typeof WAYS)[number];

/** The answer of `POST /v1/live/{name}`. */
interface Grant {
  readonly broadcast: string;
  readonly relay: {
    readonly url: string;
    readonly token: string;
    readonly certificateHashes: readonly string[];
  };
}

export interface MoqOptions {
  readonly web: string;
  /** Of the live broadcast. */
  readonly name: string;
  readonly way: Way;
}

const WITHIN_MS = 30_000;
/** Of a recording, some seconds of sound and pictures. */
const ENOUGH_BYTES = 150_000;

/** Publishes a video in a loop until closed. */
export async function publishByMoqCli(video: string, options: MoqOptions): Promise<MoqCli> {
  const ffmpeg = spawn(
    'ffmpeg',
    ['-v', 'error', '-re', '-stream_loop', '-1', '-i', video, '-c', 'copy', '-f', 'mpegts', '-'],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const moq = start(await argumentsOf(options, true), ['import', 'ts']);
  ffmpeg.stdout.pipe(moq.stdin).on('error', () => undefined);
  return new MoqCli(moq, [ffmpeg]);
}

/** Watches until it has received enough, and answers how many frames of each kind ffmpeg decodes of that. `file`: where to keep it meanwhile. */
export async function watchByMoqCli(
  file: string,
  options: MoqOptions,
): Promise<{ readonly video: number; readonly audio: number }> {
  const moq = start(await argumentsOf(options, false), ['export', '--catalog-format=hang', 'mkv']);
  const watching = new MoqCli(moq, []);
  const written = once(moq.stdout.pipe(createWriteStream(file)), 'close');
  try {
    await until(() => sizeOf(file) > ENOUGH_BYTES, {
      withinMs: WITHIN_MS,
      what: () => `${ENOUGH_BYTES} bytes: ${sizeOf(file)} until now; ${watching.said()}`,
    });
  } finally {
    await watching.close();
    await written;
  }
  return { video: framesOf(file, 'v'), audio: framesOf(file, 'a') };
}

export class MoqCli {
  readonly #moq: ChildProcessWithoutNullStreams;
  readonly #feeding: readonly ChildProcess[];
  #stderr = '';

  constructor(moq: ChildProcessWithoutNullStreams, feeding: readonly ChildProcess[]) {
    this.#moq = moq;
    this.#feeding = feeding;
    moq.stderr.on('data', (text: Buffer) => (this.#stderr += text.toString()));
  }

  /** What it wrote to stderr. */
  said(): string {
    return this.#stderr;
  }

  async close(): Promise<void> {
    await Promise.all([this.#moq, ...this.#feeding].map(end));
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

const start = (connection: readonly string[], stage: readonly string[]): ChildProcessWithoutNullStreams =>
  spawn(findMoqCli(), [...connection, ...stage]);

/** Whom it connects to, with a token of its own. */
async function argumentsOf({ web, name, way }: MoqOptions, publish: boolean): Promise<string[]> {
  const answer = await fetch(`${web}/v1/live/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ publish }),
  });
  if (!answer.ok) throw new Error(`POST /v1/live/${name}: ${await answer.text()}`);
  const { broadcast, relay } = (await answer.json()) as Grant;
  const hashes = relay.certificateHashes.map((hash) => Buffer.from(hash, 'base64').toString('hex'));
  return [
    `--connect=${addressOf(relay, { web, way })}`,
    ...hashes.map((hash) => `--connect-tls-fingerprint=${hash}`),
    `--broadcast=${broadcast}`,
  ];
}

function addressOf({ url, token }: Grant['relay'], { web, way }: Pick<MoqOptions, 'web' | 'way'>): string {
  const { host } = new URL(url);
  switch (way) {
    case 'WebTransport':
      return `https://${host}/?jwt=${token}`;
    case 'raw QUIC':
      return `moql://${host}/?jwt=${token}`;
    case 'WebSocket':
      return `${web.replace(/^http/, 'ws')}/media?at=${host}&jwt=${token}`;
    default:
      return way satisfies never;
  }
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

function framesOf(file: string, stream: 'v' | 'a'): number {
  const read = `-v error -select_streams ${stream} -count_frames -show_entries stream=nb_read_frames -of csv=p=0`;
  // The recording ends in the middle of a frame, of which ffprobe complains.
  const count = execFileSync('ffprobe', [...read.split(' '), file], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return Number.parseInt(count, 10) || 0;
}
