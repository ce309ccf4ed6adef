/** A little of everything that a stack serves, for as long as a test looks at its metrics. */
import { spawn, execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join as joinPath } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { WebSocket } from 'ws';
import type { Endpoints } from '@parley/local/endpoints';
import { findBuilt } from '@parley/local/tools';
import { Client, join } from '../../../services/signaling/test/support/client.ts';
import { within } from '../../../services/signaling/test/support/deadline.ts';
import { Owner } from '../../../services/signaling/test/support/owner.ts';
import { restLogin, TurnClient } from '../../../services/turn/test/turn-client.ts';
import type { Closeable } from './opened.ts';
import { openSocket } from './senders.ts';
import type { TurnNode } from './turn-node.ts';
import { until } from './until.ts';
import { newRoom } from './visitor.ts';

type Keep = <Kept extends Closeable>(one: Kept) => Kept;

type TurnServer = Pick<TurnNode, 'ip' | 'port' | 'secret'>;

const ROUND_MS = 250;
const PATHS = ['mesh', 'turn', 'relay'] as const;
/** A busy machine decodes late. */
const PLAYS_WITHIN_MS = 30_000;

/** Where a stack, or an installation, is reached. */
export interface Served {
  readonly endpoints: Pick<Endpoints, 'web' | 'pods' | 'relays' | 'mediaSocket'>;
}

export interface Traffic {
  /** Ends what repeats; rejects with the failure of a round. The clients stay. */
  stop(): Promise<void>;
}

/** `dir` holds the video. */
export async function startTraffic(
  dir: string,
  stack: Served,
  turn: TurnServer,
  keep: Keep,
): Promise<Traffic> {
  await watchBriefly(dir, stack, keep);
  await allocate(turn, keep);
  await refusedByRelay(stack);
  const rounds = [await people(stack, keep), await topic(stack, keep)];
  const stopping = new AbortController();
  const repeat = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      for (const round of rounds) await round();
      await pause(ROUND_MS);
    }
  };
  // Its failure is reported by `stop`, not when it happens.
  const outcome = repeat().then(
    () => undefined,
    (failure: unknown) => ({ failure }),
  );
  keep({
    close() {
      stopping.abort();
      return outcome;
    },
  });
  return {
    async stop() {
      stopping.abort();
      const failed = await outcome;
      if (failed !== undefined) throw failed.failure;
    },
  };
}

/** Three participants on two pods, with reports of quality; visitors who come and leave; a room with a cap. */
async function people({ endpoints }: Served, keep: Keep): Promise<() => Promise<void>> {
  const [pod = '', other = ''] = endpoints.pods;
  const room = newRoom();
  const [ada, bo, cy] = [
    keep(await Client.enter(pod, room)),
    keep(await Client.enter(pod, room, 'Bo')),
    keep(await Client.enter(other, room, 'Cy')),
  ];
  for (const [index, client] of [ada, bo, cy].entries())
    client.sendMessage({
      type: 'quality',
      path: PATHS[index],
      setupMs: 400,
      roundTripMs: 40,
      lossPermille: 2,
      bufferMs: 60,
      freezes: 1,
      reconnects: 0,
    });
  const { room: capped } = await Owner.of(pod, { cap: 5 });
  keep(await Client.enter(pod, capped, 'Di'));
  await join(pod, room, { body: 'not JSON' });
  const gone = await Client.enter(pod, room, 'Ed');
  gone.leave();
  await gone.waitForClose();
  ada.send(gone, 'm-gone', 'are you there?');
  let sent = 0;
  return async () => {
    sent += 1;
    ada.send(bo, `m-${sent}`, 'an offer');
    ada.send(cy, `n-${sent}`, 'an offer');
    const visitor = await Client.enter(endpoints.web, room, 'Flo');
    visitor.leave();
    await visitor.waitForClose();
  };
}

/** A publisher at one relay, and a reader at each. */
async function topic({ endpoints }: Served, keep: Keep): Promise<() => Promise<void>> {
  const [near = '', far = ''] = endpoints.relays.map((url) => url.replace(/^http/, 'ws'));
  const open = async (url: string): Promise<WebSocket> => {
    const socket = await openSocket(url);
    keep({ close: () => socket.terminate() });
    return socket;
  };
  for (const relay of [near, far]) await open(`${relay}/out/lab/traffic`);
  const publisher = await open(`${near}/in/lab/traffic`);
  return async () => publisher.send(Buffer.alloc(1000));
}

/** A path that is reserved, a frame against the protocol, and media for a page of another origin. */
async function refusedByRelay({ endpoints }: Served): Promise<void> {
  const relay = endpoints.relays[0]?.replace(/^http/, 'ws') ?? '';
  await within('a reserved path is refused', once(new WebSocket(`${relay}/metrics`), 'error'));
  const broken = await openSocket(`${relay}/in/lab/broken`);
  broken.send('unmasked', { mask: false });
  await within('a frame against the protocol ends its socket', once(broken, 'close'));
  const stranger = new WebSocket(endpoints.mediaSocket, { origin: 'https://elsewhere.example.com' });
  await within('media for another origin is refused', once(stranger, 'error'));
}

async function allocate({ ip, port, secret }: TurnServer, keep: Keep): Promise<void> {
  const login = restLogin(secret, 'metrics', Math.floor(Date.now() / 1000) + 600);
  const client = keep(await TurnClient.open({ ip, port }, login));
  const { outcome } = await client.allocate();
  if (outcome !== 'ok') throw new Error(`coturn answers ${outcome}`);
}

/** A live broadcast with a viewer that stays, and one that leaves when it has seen something. */
async function watchBriefly(dir: string, { endpoints }: Served, keep: Keep): Promise<void> {
  const video = joinPath(dir, 'video.mp4');
  const picture =
    '-v error -f lavfi -i testsrc=size=160x120:rate=10 -t 3 -c:v libx264 -preset ultrafast -g 10';
  await promisify(execFile)('ffmpeg', [...picture.split(' '), '-pix_fmt', 'yuv420p', video]);
  const where = `${endpoints.web}/live/metrics`;
  command(['publish', where, video, '--loop'], keep);
  command(['watch', where, '--log'], keep);
  const viewer = command(['watch', where, '--log'], keep);
  let seen = '';
  viewer.child.stdout?.on('data', (chunk: Buffer) => (seen += chunk.toString()));
  await until(() => seen.includes('\n'), {
    withinMs: PLAYS_WITHIN_MS,
    what: () => 'a frame of the broadcast',
  });
  await viewer.close();
}

function command(args: readonly string[], keep: Keep): Closeable & { readonly child: ChildProcess } {
  const child = spawn(findBuilt('parley', 'cli'), args, { stdio: ['ignore', 'pipe', 'ignore'] });
  child.stdout.resume();
  const exited = once(child, 'exit');
  process.once('exit', () => child.kill('SIGKILL'));
  return keep({
    child,
    async close() {
      child.kill('SIGINT');
      await exited;
    },
  });
}
