import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startStack, type Stack } from '../src/stack.ts';
import { makeVideo, Terminal } from '../src/terminal.ts';
import { scratchDir } from './scratch.ts';

// Rooms and live broadcasts from the terminal, on real pods and relays.

let stack: Stack;
let video: string;
const cleanups: (() => unknown)[] = [];

before(async () => {
  const dir = scratchDir({ after: (work) => cleanups.push(work) });
  stack = await startStack({ dir });
  cleanups.push(() => stack.stop());
  video = makeVideo(join(dir, 'video.mp4'));
});

after(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

function terminal(t: { after(work: () => unknown): void }, ...args: string[]): Terminal {
  const started = Terminal.start(args);
  t.after(() => started.child.kill('SIGKILL'));
  return started;
}

interface Frame {
  readonly participant: string;
  readonly broadcast: string;
  readonly timeMs: number;
}

/** Frames that arrive so much later than now: those of before may still wait to be read here. */
const later = (ms: number) => {
  const from = Date.now() + ms;
  return (line: string): boolean => frameOf(line).timeMs > from;
};
const frameOf = (line: string): Frame => JSON.parse(line) as Frame;

test('[MEDIA-4] a room is made, joined twice, published in and watched, and deleted, from the terminal', async (t) => {
  const creates = terminal(t, 'room', 'create', stack.endpoints.web, 'screening');
  const page = await creates.line('stdout');
  const key = await creates.line('stdout');
  assert.match(page, /\/r\/screening@/);
  assert.equal(await creates.ends(), 0);

  const watches = terminal(t, 'watch', page, '--log');
  await watches.line('stderr', (line) => line.includes('no other participant publishes yet'));
  const publishers = ['Ada', 'Bob'].map((name) =>
    terminal(t, 'publish', page, video, '--loop', '--name', name),
  );
  const ids = await Promise.all(
    publishers.map(async (publishes) =>
      /joined \S+ as (p\w{16})/
        .exec(await publishes.line('stderr', (line) => line.includes('joined')))
        ?.at(1),
    ),
  );
  for (const id of ids) {
    const frame = frameOf(await watches.line('stdout', (line) => frameOf(line).participant === id));
    assert.match(frame.broadcast, /^rooms\/screening@\w+\/p\w{16}\/video$/);
  }

  // The voice of a participant that leaves ends, and the other one's continues.
  assert.equal(await publishers[0]?.interrupt(), 0);
  for (let more = 0; more < 60; more += 1)
    await watches.line('stdout', (line) => frameOf(line).participant === ids[1]);

  assert.equal(await terminal(t, 'room', 'delete', page, '--key', 'wrong').ends(), 3);
  assert.equal(await terminal(t, 'room', 'delete', page, '--key', key).ends(), 0);
  assert.equal(await publishers[1]?.ends(), 3);
  assert.equal(await watches.ends(), 3);
});

test('[RES-4] a participant that publishes in a room resumes as the same one when its pod is killed', async (t) => {
  const page = `${stack.endpoints.web}/r/abcd-efgh-jkmn-pqrs`;
  const publishes = terminal(t, 'publish', page, video, '--loop');
  const watches = terminal(t, 'watch', page, '--log');
  await watches.line('stdout');
  for (const name of ['signaling-1', 'signaling-2']) {
    stack.kill(name, 'SIGKILL');
    await stack.restart(name);
  }
  await publishes.line('stderr', (line) => line.includes('rejoining the room in'));
  const { participant } = frameOf(await watches.line('stdout'));
  for (let more = 0; more < 300; more += 1)
    assert.equal(frameOf(await watches.line('stdout')).participant, participant);
  assert.equal(await publishes.interrupt(), 0);
});

test('[MEDIA-8] a live broadcast that is published from the terminal is watched there when its relay goes away', async (t) => {
  const page = `${stack.endpoints.web}/live/terminal`;
  const watches = terminal(t, 'watch', page, '--log');
  const publishes = terminal(t, 'publish', page, video, '--loop');
  await watches.line('stdout');
  for (const relay of ['relay-1', 'relay-2']) {
    stack.kill(relay, 'SIGTERM');
    await watches.line('stdout', later(1000));
    await stack.restart(relay);
  }
  assert.equal(await publishes.interrupt(), 0);
  assert.equal(await watches.ends(), 0);
});

test('[MEDIA-9] it goes over WebSocket through the edge', async (t) => {
  const page = `${stack.endpoints.web}/live/edge`;
  const watches = terminal(t, 'watch', page, '--log', '--transport', 'websocket');
  await watches.line('stderr', (line) => line.includes('connected over WebSocket'));
  const publishes = terminal(t, 'publish', page, video, '--loop', '--transport', 'websocket');
  await watches.line('stdout');
  assert.equal(await publishes.interrupt(), 0);
});
