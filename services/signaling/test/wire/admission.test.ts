/** Admission to a pod: HTTP answers, refused upgrades and their limits. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, test, type TestContext } from 'node:test';
import { type Code, CODES, knownCode, passesByItself } from '@parley/protocol/codes';
import type { CreateRoomAnswer, ErrorAnswer } from '@parley/protocol/http';
import type { RunningPod } from '../../src/server/start.ts';
import { withBystanders } from '../support/bystanders.ts';
import { Client, NO_MEDIA, join, ticketFor } from '../support/client.ts';
import { eventually } from '../support/deadline.ts';
import { startNats, type TestNats } from '../support/nats.ts';
import { randomRoom, startTestPod, type TestPodOptions } from '../support/pod.ts';
import { RawClient, frame, upgradeHead } from '../support/raw.ts';

let nats: TestNats;
let pod: RunningPod;
before(async () => {
  nats = await startNats();
  pod = await startTestPod({ nats: nats.url });
});
after(async () => {
  await pod.close();
  await nats.close();
});

/** A pod of its own, for limits that others would run into. */
async function ownPod(context: TestContext, options: TestPodOptions): Promise<RunningPod> {
  const own = await startTestPod({ nats: nats.url, name: `own-${randomRoom()}`, ...options });
  context.after(() => own.close());
  return own;
}

async function refusal(response: Response): Promise<{ status: number; code: Code }> {
  const code = knownCode(((await response.json()) as ErrorAnswer).code);
  assert.equal(response.headers.has('retry-after'), passesByItself(code), 'Retry-After where it helps');
  return { status: response.status, code };
}

const expected = (code: Code): { status: number | null; code: Code } => ({ status: CODES[code].http, code });
const post = (path: string, body: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${pod.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });

interface BadRequest {
  readonly title: string;
  readonly code: Code;
  readonly send: (room: string) => Promise<Response>;
}

const REQUESTS: readonly BadRequest[] = [
  { title: '[ERR-2] an unknown address', code: 'NOT_FOUND', send: () => fetch(`${pod.url}/v1/nothing`) },
  {
    title: '[LIM-7] a body that is too large (body.bytes)',
    code: 'BODY_TOO_LARGE',
    send: (room) => post(`/v1/rooms/${room}/join`, JSON.stringify({ name: 'x'.repeat(5000) })),
  },
  {
    title: '[ERR-2] a body that is not JSON',
    code: 'BAD_REQUEST',
    send: (room) => post(`/v1/rooms/${room}/join`, '{"name":'),
  },
  {
    title: '[ERR-2] a body of another kind',
    code: 'BAD_REQUEST',
    send: (room) => post(`/v1/rooms/${room}/join`, '<join/>', { 'content-type': 'text/xml' }),
  },
  {
    title: '[ERR-2] a body of the wrong form',
    code: 'BAD_REQUEST',
    send: () => post('/v1/rooms', '{"name":7}'),
  },
  {
    title: '[ERR-2] a body that would change prototypes',
    code: 'BAD_REQUEST',
    send: () => post('/v1/rooms', '{"name":"ok","__proto__":{"cap":1}}'),
  },
  {
    title: '[ROOM-1] a room that is no room id',
    code: 'ROOM_INVALID',
    send: () => post('/v1/rooms/NOT_A_ROOM/join', '{}'),
  },
  {
    title: '[ROOM-7] a named room that does not exist',
    code: 'ROOM_NOT_FOUND',
    send: () => post('/v1/rooms/nobody-made-this@local/join', '{}'),
  },
  {
    title: '[HOME-1] a named room of a region that does not exist',
    code: 'ROOM_NOT_FOUND',
    send: () => post('/v1/rooms/standup@mars/join', '{}'),
  },
  {
    title: '[JOIN-13] a name that is too long (name.chars)',
    code: 'NAME_INVALID',
    send: (room) => post(`/v1/rooms/${room}/join`, JSON.stringify({ name: 'x'.repeat(65) })),
  },
  {
    title: '[LIM-7] a page of an origin that is not allowed',
    code: 'ORIGIN_DENIED',
    send: (room) => post(`/v1/rooms/${room}/join`, '{}', { origin: 'https://elsewhere.example' }),
  },
  {
    title: '[ROOM-6] deleting a room with the wrong owner key',
    code: 'OWNER_KEY_INVALID',
    send: async () => {
      const { room } = await created();
      return fetch(`${pod.url}/v1/rooms/${room.room}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${'A'.repeat(43)}` },
      });
    },
  },
  {
    title: '[ROOM-6] deleting a room without an owner key',
    code: 'OWNER_KEY_INVALID',
    send: async () => fetch(`${pod.url}/v1/rooms/${(await created()).room.room}`, { method: 'DELETE' }),
  },
  {
    title: '[ROOM-2] deleting an ad-hoc room, which has no owner',
    code: 'ROOM_NOT_FOUND',
    send: (room) => fetch(`${pod.url}/v1/rooms/${room}`, { method: 'DELETE' }),
  },
  {
    title: '[ROOM-5] creating a room a second time',
    code: 'ROOM_EXISTS',
    send: async () => {
      const { room } = await created();
      return post('/v1/rooms', JSON.stringify({ name: room.room.split('@')[0] }));
    },
  },
];

let names = 0;
async function created(cap = 10): Promise<CreateRoomAnswer> {
  names += 1;
  const response = await post('/v1/rooms', JSON.stringify({ name: `room-${names}`, cap }));
  assert.equal(response.status, 201);
  return (await response.json()) as CreateRoomAnswer;
}

describe('admission', { concurrency: 6 }, () => {
  for (const { title, code, send } of REQUESTS) {
    test(`${title}: ${code}`, async () => {
      await withBystanders(pod.url, async (room) => {
        assert.deepEqual(await refusal(await send(room)), expected(code));
      });
    });
  }

  test('[ROOM-8] the owner deletes a room: its participants are notified and closed', async () => {
    const { room, ownerKey } = await created();
    const ada = await Client.enter(pod.url, room.room);
    const answer = await fetch(`${pod.url}/v1/rooms/${room.room}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${ownerKey}` },
    });
    assert.equal(answer.status, 204);
    await ada.waitFor('room-deleted');
    assert.deepEqual(await ada.refusedWith(), { code: 'ROOM_DELETED', close: CODES.ROOM_DELETED.close });
    assert.deepEqual(
      await refusal(await post(`/v1/rooms/${room.room}/join`, '{}')),
      expected('ROOM_NOT_FOUND'),
    );
  });

  test('[JOIN-10] a full room: ROOM_FULL for the join and on the socket (room.participants)', async () => {
    const { room } = await created(2);
    // Admitted while there was space, and late.
    const { ticket } = await ticketFor(pod.url, room.room);
    await withBystanders(
      pod.url,
      async (id) => {
        assert.deepEqual(await refusal(await post(`/v1/rooms/${id}/join`, '{}')), expected('ROOM_FULL'));
        const late = new Client(id);
        await late.connect(pod.url);
        late.sendMessage({ type: 'enter', ticket, generation: 1, name: 'Cas', media: NO_MEDIA });
        assert.deepEqual(await late.refusedWith(), { code: 'ROOM_FULL', close: CODES.ROOM_FULL.close });
      },
      [],
      room.room,
    );
  });

  test('[LIM-7] too many joins from one address: TOO_MANY_JOINS, and participants of rooms are not affected (address.joins)', async (context) => {
    const own = await ownPod(context, { limits: { 'address.joins': 4 } });
    await withBystanders(own.url, async (room) => {
      for (let taken = 2; taken < 4; taken += 1) assert.ok((await join(own.url, room)).ok);
      const refused = await join(own.url, room);
      assert.ok(!refused.ok);
      assert.equal(refused.error.code, 'TOO_MANY_JOINS');
      assert.equal(refused.status, 429);
      assert.ok(Number(refused.retryAfter) >= 1 && Number(refused.retryAfter) <= 15);
    });
  });

  test('[LIM-7] too many rooms from one address: TOO_MANY_ROOMS (address.rooms)', async (context) => {
    const own = await ownPod(context, { limits: { 'address.rooms': 1 } });
    const create = (name: string): Promise<Response> =>
      fetch(`${own.url}/v1/rooms`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name }),
      });
    await withBystanders(own.url, async () => {
      assert.equal((await create('first-of-many')).status, 201);
      assert.deepEqual(await refusal(await create('second-of-many')), expected('TOO_MANY_ROOMS'));
    });
  });

  test('[LIM-7] X-Forwarded-For counts only where a proxy is trusted, and only what that proxy wrote (address.joins)', async (context) => {
    const limits = { 'address.joins': 1 };
    const bare = await ownPod(context, { limits });
    const behind = await ownPod(context, { limits, config: { trustedProxies: 1 } });
    const joined = async (url: string, forwarded: string): Promise<boolean> =>
      (await join(url, randomRoom(), { headers: { 'x-forwarded-for': forwarded } })).ok;
    assert.ok(await joined(bare.url, '203.0.113.1'));
    assert.ok(!(await joined(bare.url, '203.0.113.2')), 'a client that invents an address');
    assert.ok(await joined(behind.url, '203.0.113.1'));
    assert.ok(await joined(behind.url, '203.0.113.2'));
    assert.ok(!(await joined(behind.url, '198.51.100.7, 203.0.113.2')), 'the proxy appended the true one');
    assert.ok(await joined(behind.url, '2001:db8:1:2::1'));
    assert.ok(!(await joined(behind.url, '2001:db8:1:2::2')), 'another address of the same network');
    assert.ok(await joined(behind.url, '2001:db8:1:3::1'));
  });

  test('[LIM-7] too many sockets from one address: TOO_MANY_SOCKETS (address.sockets)', async (context) => {
    const own = await ownPod(context, { limits: { 'address.sockets': 2 } });
    await withBystanders(own.url, async (room) => {
      assert.deepEqual(await upgrade(own.url, room), expected('TOO_MANY_SOCKETS'));
    });
  });

  test('[LIM-7] a pod with as many sockets as it may hold: POD_FULL for joins and sockets (pod.sockets)', async (context) => {
    const own = await ownPod(context, { limits: { 'pod.sockets': 2 } });
    await withBystanders(own.url, async (room) => {
      assert.deepEqual(await upgrade(own.url, room), expected('POD_FULL'));
      const refused = await join(own.url, room);
      assert.ok(!refused.ok && refused.error.code === 'POD_FULL');
    });
  });

  test('[LIM-7] a pod with as many rooms as it may have: POD_FULL for another, not for its own (pod.rooms)', async (context) => {
    const own = await ownPod(context, { limits: { 'pod.rooms': 1 } });
    await withBystanders(own.url, async (room) => {
      const refused = await join(own.url, randomRoom());
      assert.ok(!refused.ok && refused.error.code === 'POD_FULL');
      assert.ok((await join(own.url, room)).ok);
    });
  });

  test('[LIM-7] an upgrade from a page that is not allowed: ORIGIN_DENIED', async () => {
    await withBystanders(pod.url, async (room) => {
      const headers = { origin: 'https://elsewhere.example' };
      assert.deepEqual(await upgrade(pod.url, room, headers), expected('ORIGIN_DENIED'));
    });
  });

  test('[LIM-7] pages of the pod itself and of allowed origins are allowed, with CORS headers', async (context) => {
    const origin = 'https://talk.example';
    const own = await ownPod(context, { config: { allowedOrigins: [origin] } });
    const room = randomRoom();
    for (const allowed of [origin, own.url]) {
      assert.ok((await join(own.url, room, { headers: { origin: allowed } })).ok, allowed);
      const client = new Client(room);
      await client.connect(own.url, { origin: allowed });
      client.drop();
    }
    const preflight = await fetch(`${own.url}/v1/rooms/${room}/join`, {
      method: 'OPTIONS',
      headers: { origin },
    });
    assert.equal(preflight.headers.get('access-control-allow-origin'), origin);
  });

  test('[JOIN-5] an upgrade at another address: NOT_FOUND', async () => {
    assert.deepEqual(await upgrade(pod.url, 'NOT_A_ROOM'), expected('NOT_FOUND'));
  });

  test('[JOIN-5] the connection of a refused upgrade is closed although the peer never closes', async () => {
    const raw = new RawClient(pod.url);
    raw.write(upgradeHead(randomRoom(), { origin: 'https://elsewhere.example' }));
    await raw.ended();
    // The system reports a write to a closed connection.
    const gone = eventually('the connection is gone', () => {
      raw.write('still there?');
      return raw.stream.destroyed;
    });
    await gone;
  });

  test('[ERR-3] a client that violates the protocol and never answers the close is away at once, without waiting for pings', async (context) => {
    const own = await ownPod(context, { limits: { 'socket.pingInterval': 60_000 } });
    await withBystanders(
      own.url,
      async (room, ada) => {
        const raw = await RawClient.open(own.url, room);
        const { ticket } = await ticketFor(own.url, room);
        raw.sendMessage({ type: 'enter', ticket, generation: 1, name: 'Mallory', media: NO_MEDIA });
        await ada.waitFor('joined', { match: ({ member }) => member.name === 'Mallory' });
        raw.write(frame({ opcode: 3 }));
        await ada.waitFor('away', { timeoutMs: 10_000 });
        raw.destroy();
      },
      ['joined', 'away'],
    );
  });

  test('[LIM-4] a reader that stalls is closed with SLOW_CONSUMER and slows no other (socket.bufferedBytes)', async (context) => {
    const fast = { 'socket.messages': 100_000, 'socket.messageBurst': 100_000 };
    const wide = { 'socket.bytes': 1_000_000_000, 'socket.byteBurst': 1_000_000_000 };
    const own = await ownPod(context, { limits: { ...fast, ...wide, 'socket.bufferedBytes': 65_536 } });
    await withBystanders(
      own.url,
      async (room, ada) => {
        const raw = await RawClient.open(own.url, room);
        const { ticket, participant } = await ticketFor(own.url, room);
        raw.sendMessage({ type: 'enter', ticket, generation: 1, name: 'Slow', media: NO_MEDIA });
        await ada.waitFor('joined', { match: ({ member }) => member.participant === participant });
        raw.stream.pause();
        const load = 'x'.repeat(60_000);
        await eventually(
          'the stalled reader is closed',
          () => {
            for (let count = 0; count < 20; count += 1) ada.send(participant, 'm', load);
            return ada.log.some((message) => message.type === 'away');
          },
          10_000,
        );
        const metrics = await (await fetch(`${own.url}/metrics`)).text();
        assert.match(metrics, /parley_refusals_total\{code="SLOW_CONSUMER"\} 1\n/);
        raw.destroy();
      },
      ['joined', 'away', 'undelivered'],
    );
  });

  test('[CHAT-3] a line that is too long: CHAT_TOO_LONG with its id; too many: TOO_MANY_CHAT_LINES (chat.chars, chat.lines)', async () => {
    await withBystanders(
      pod.url,
      async (room, ada) => {
        const eve = await Client.enter(pod.url, room, 'Eve');
        eve.sendMessage({ type: 'chat', id: 'too-long-1', text: 'x'.repeat(2001) });
        const long = await eve.waitFor('error');
        assert.deepEqual([long.code, long.ref, long.fatal], ['CHAT_TOO_LONG', 'too-long-1', false]);
        for (let line = 10; line < 22; line += 1)
          eve.sendMessage({ type: 'chat', id: `line-no-${line}`, text: 'hi' });
        const fast = await eve.waitFor('error', { match: ({ code }) => code === 'TOO_MANY_CHAT_LINES' });
        assert.equal(fast.fatal, false);
        assert.ok((fast.retryAfterMs ?? 0) > 0 && fast.ref?.startsWith('line-no-'));
        eve.leave();
        await ada.waitFor('left');
        assert.ok(!ada.log.some((message) => message.type === 'chat' && message.line.id === fast.ref));
      },
      ['joined', 'left', 'chat'],
    );
  });
});

/** A refused upgrade, as a program that is no browser sees it. */
function upgrade(
  url: string,
  room: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; code: Code }> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/v1/rooms/${room}/socket`, {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        ...headers,
      },
    });
    asked.on('error', reject);
    asked.on('upgrade', () => reject(new Error('the upgrade was not refused')));
    asked.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { code } = JSON.parse(Buffer.concat(chunks).toString()) as ErrorAnswer;
        resolve({ status: response.statusCode ?? 0, code: knownCode(code) });
      });
    });
    asked.end();
  });
}
