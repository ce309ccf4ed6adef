import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startStack, type Stack } from '../src/stack.ts';
import { scratchDir } from './scratch.ts';

// Two real relays that carry media, and a participant that receives them from signaling.

const withinMs = 20_000;

interface Offer {
  readonly url: string;
  readonly token: string;
  readonly certificateHashes: readonly string[];
}

let stack: Stack;
const cleanups: (() => unknown)[] = [];

before(async () => {
  stack = await startStack({ dir: scratchDir({ after: (work) => cleanups.push(work) }) });
  cleanups.push(() => stack.stop());
});

after(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

test('[MEDIA-6] a participant is offered a relay, and another one when that goes', async (t) => {
  const ask = await participant(t);
  const first = await offerOf('a relay is offered', ask, () => true);
  assert.ok(stack.endpoints.media.includes(first.url), first.url);
  assert.equal(first.certificateHashes.length, 2);
  const name = `relay-${stack.endpoints.media.indexOf(first.url) + 1}`;

  await end(name);
  const other = await offerOf('another relay is offered', ask, ({ url }) => url !== first.url);
  assert.ok(stack.endpoints.media.includes(other.url), other.url);

  await stack.restart(name);
  const again = await offerOf('the first relay is offered again', ask, ({ url }) => url === first.url);
  assert.deepEqual(again.certificateHashes, first.certificateHashes, 'pinned certificates outlive a restart');
});

test('the relays are a tree: the one whose name comes first has dialled the other', async () => {
  const [first, second] = stack.endpoints.relays;
  const links = async (relay: string | undefined) => {
    const text = await (await fetch(`${relay}/metrics`)).text();
    return [/^parley_media_links_desired (\d+)$/m, /^parley_media_links_up (\d+)$/m].map(
      (line) => line.exec(text)?.[1],
    );
  };
  await eventually('the link is up', async () => (await links(first)).join() === '1,1' || undefined);
  assert.deepEqual(await links(second), ['0', '0']);
});

/** Ends a relay as an operator does, and waits until its process has ended. */
async function end(name: string): Promise<void> {
  const relay = stack.endpoints.processes[name];
  assert.ok(relay);
  stack.kill(name, 'SIGTERM');
  await eventually(`${name} to end`, () =>
    fetch(`${relay.url}/healthz`).then(
      () => undefined,
      () => true,
    ),
  );
}

/** Asks until the answer is such a relay: a lease takes its time. */
function offerOf(
  what: string,
  ask: () => Promise<Offer | null>,
  isSo: (offer: Offer) => boolean,
): Promise<Offer> {
  return eventually(what, async () => {
    const offer = await ask();
    return offer && isSo(offer) ? offer : undefined;
  });
}

/** What it answers first that is something; fails with what did not happen. */
async function eventually<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const until = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    assert.ok(performance.now() < until, `not within ${withinMs} ms: ${what}`);
    await delay(100);
  }
}

/** Enters a room; answers how its socket is asked for a relay. */
async function participant(t: { after(work: () => unknown): void }): Promise<() => Promise<Offer | null>> {
  const joined = await fetch(`${stack.endpoints.api}/rooms/abcd-efgh-jkmn-pqrs/join`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Ada' }),
  });
  const { ticket, socketUrl } = (await joined.json()) as { ticket: string; socketUrl: string };
  const socket = new WebSocket(socketUrl);
  t.after(() => socket.close());
  const welcome = Promise.withResolvers<void>();
  const answers: (Offer | null)[] = [];
  let last = 'nothing';
  socket.addEventListener('message', ({ data }) => {
    last = String(data);
    const message = JSON.parse(last) as { type: string; relay?: Offer | null };
    if (message.type === 'welcome') welcome.resolve();
    if (message.type === 'relay') answers.push(message.relay ?? null);
  });
  socket.addEventListener('close', ({ code, reason }) => (last = `closed with ${code} ${reason}`));
  await once(socket, 'open', { signal: AbortSignal.timeout(withinMs) });
  const media = { audio: true, video: true, screen: false };
  socket.send(JSON.stringify({ type: 'enter', ticket, generation: 1, name: 'Ada', media }));
  await welcome.promise;
  return async () => {
    socket.send(JSON.stringify({ type: 'relay' }));
    const until = performance.now() + withinMs;
    while (answers.length === 0) {
      assert.ok(performance.now() < until, `no answer; the last message: ${last}`);
      await delay(20);
    }
    return answers.shift() ?? null;
  };
}
