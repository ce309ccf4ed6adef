import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CODES, type Code } from '@parley/protocol/codes';
import type { Call } from '../../src/call.ts';
import { ME, ROOM, member, participant } from '../fakes/messages.ts';
import { admitted, fakeService, refusal } from '../fakes/service.ts';
import { nextSocket, status, welcomeNext } from '../fakes/steps.ts';

/** Proofs of chat lines. */
const PROOF = 'A'.repeat(22);
const OTHER_PROOF = 'B'.repeat(22);

const ended = (call: Call): unknown => {
  const { connection } = call.snapshot();
  return connection.status === 'ended' ? [connection.reason, connection.retry] : connection.status;
};

describe('admission', () => {
  test('[JOIN-1] the client requests a ticket, and the ticket is in the first message on the socket', async () => {
    const service = fakeService();
    const call = await service.enter();
    assert.equal(service.joins[0]?.body, '{"name":"Me"}');
    const [enter] = service.socket.sent;
    assert.deepEqual([enter?.['type'], enter?.['ticket'], enter?.['generation']], ['enter', 'ticket', 1]);
    assert.equal(status(call), 'connected');
  });

  for (const code of [429, 503]) {
    test(`[JOIN-3] ${code}: requested again, not before Retry-After`, async () => {
      const service = fakeService();
      service.answers = [refusal(code, 'TOO_MANY_JOINS', { 'retry-after': '7' }), admitted];
      service.join();
      await nextSocket(service);
      assert.equal(service.joins.length, 2);
      assert.ok((service.joins[1]?.at ?? 0) >= 7000 && (service.joins[1]?.at ?? 0) < 8000);
    });
  }

  test('a wait above the time limit ends the join immediately, with the time to wait', async () => {
    const service = fakeService();
    service.answers = [refusal(503, 'POD_FULL', { 'retry-after': '120' })];
    const call = service.join();
    await service.settle();
    assert.deepEqual(call.snapshot().connection, {
      status: 'ended',
      reason: 'POD_FULL',
      retry: true,
      retryAfterMs: 120_000,
    });
  });

  for (const [http, code] of [
    [403, 'BANNED'],
    [404, 'ROOM_NOT_FOUND'],
    [409, 'ROOM_FULL'],
    [410, 'ROOM_DELETED'],
    [423, 'ROOM_LOCKED'],
    [400, 'NAME_INVALID'],
  ] as const) {
    test(`[JOIN-3] ${code} is not requested again`, async () => {
      const service = fakeService();
      service.answers = [refusal(http, code)];
      const call = service.join();
      await service.ports.clock.advance(60_000);
      assert.deepEqual(ended(call), [code, CODES[code].retry]);
      assert.equal(service.joins.length, 1);
    });
  }

  test('no answer: unreachable after some attempts, and none in the background afterwards', async () => {
    const service = fakeService();
    service.answers = [() => new TypeError('failed to fetch')];
    const call = service.join();
    await service.ports.clock.advance(30_000);
    assert.deepEqual(ended(call), ['unreachable', true]);
    const tries = service.joins.length;
    assert.ok(tries >= 3 && tries < 30, `${tries} tries`);
    await service.ports.clock.advance(60_000);
    assert.equal(service.joins.length, tries);
    assert.equal(service.ports.clock.pending, 0);
  });

  test('the error page of a proxy is not taken for a code of the service', async () => {
    const service = fakeService();
    service.answers = [() => new Response('<h1>Bad Gateway</h1>', { status: 502 }), admitted];
    service.join();
    assert.notEqual(await nextSocket(service), null);
  });

  test('leaving while joining ends the join', async () => {
    const service = fakeService();
    service.answers = [refusal(503, 'NOT_READY'), admitted];
    const call = service.join();
    await service.settle();
    call.leave();
    await service.ports.clock.advance(60_000);
    assert.deepEqual(ended(call), ['left', false]);
    assert.equal(service.joins.length, 1);
    assert.equal(service.ports.clock.pending, 0);
  });
});

describe('the socket and its recovery', () => {
  test('[RES-3] a lost socket is resumed with the token and a higher generation', async () => {
    const service = fakeService();
    const call = await service.enter();
    service.socket.drop(1006);
    assert.equal(status(call), 'recovering');
    await nextSocket(service);
    const first = await welcomeNext(service);
    assert.deepEqual(
      [first?.['type'], first?.['token'], first?.['generation']],
      ['resume', 'resume-token', 2],
    );
    assert.equal(status(call), 'connected');
    assert.equal(service.joins.length, 1);
  });

  test('the generation increases with every attempt, also with failed ones', async () => {
    const service = fakeService();
    await service.enter();
    for (let failure = 0; failure < 3; failure += 1) {
      service.socket.drop(1006);
      await nextSocket(service);
    }
    assert.equal((await welcomeNext(service))?.['generation'], 4);
  });

  test('delays between attempts grow to a limit and differ between clients', async () => {
    const service = fakeService();
    await service.enter();
    const waits: number[] = [];
    for (let failure = 0; failure < 20; failure += 1) {
      service.socket.drop(1006);
      waits.push((await nextSocket(service)) ?? Number.NaN);
    }
    assert.ok((waits[0] ?? 0) <= 500, `first ${waits[0]}`);
    assert.ok(Math.max(...waits) <= 5000 && Math.max(...waits) > 2500, `longest ${Math.max(...waits)}`);
    assert.ok(new Set(waits).size > 15);
  });

  test('after repeated failures of an address the client requests a new one and keeps the token', async () => {
    const service = fakeService();
    await service.enter();
    service.socket.drop(1006);
    for (let failure = 0; failure < 3; failure += 1) {
      await nextSocket(service);
      service.socket.drop(1006);
    }
    await nextSocket(service);
    assert.equal(service.joins.length, 2);
    assert.equal((await welcomeNext(service))?.['type'], 'resume');
  });

  for (const code of ['RESUME_EXPIRED', 'RESUME_INVALID'] as const) {
    test(`[RES-6] ${code}: a new join, as a new participant`, async () => {
      const service = fakeService();
      const call = await service.enter();
      service.socket.sendMessage({ type: 'joined', member: member(participant('a'), 'Ada') });
      service.socket.drop(1006);
      await nextSocket(service);
      service.socket.open();
      service.socket.drop(CODES[code].close ?? 0);
      await nextSocket(service);
      assert.equal(service.joins.length, 2);
      assert.equal((await welcomeNext(service))?.['type'], 'enter');
      assert.equal(status(call), 'connected');
      assert.deepEqual(call.snapshot().people, []);
    });
  }

  for (const code of ['TICKET_EXPIRED', 'TICKET_USED'] as const) {
    test(`${code}: a new ticket, a limited number of times`, async () => {
      const service = fakeService();
      const call = service.join();
      await service.settle();
      for (let refused = 0; refused < 4; refused += 1) {
        service.socket.open();
        service.socket.drop(CODES[code].close ?? 0);
        if (refused < 3) await nextSocket(service);
      }
      assert.deepEqual(ended(call), [code, true]);
      assert.equal(service.joins.length, 4);
    });
  }

  const fatal: readonly Code[] = [
    'REPLACED',
    'KICKED',
    'CALL_ENDED',
    'BANNED',
    'ROOM_DELETED',
    'TICKET_INVALID',
    'ROOM_FULL',
  ];
  for (const code of fatal) {
    test(`${code} ends the call, clears the memory and leaves no timer running`, async () => {
      const service = fakeService();
      const call = await service.enter();
      service.socket.sendMessage({ type: 'joined', member: member(participant('a'), 'Ada') });
      assert.equal(service.ports.fabric.live.length, 1);
      service.socket.drop(CODES[code].close ?? 0);
      await service.ports.clock.advance(60_000);
      assert.deepEqual(ended(call), [code, CODES[code].retry]);
      assert.equal(service.sockets.length, 1);
      assert.equal(service.memory, null);
      assert.equal(service.ports.fabric.live.length, 0);
      assert.equal(service.ports.clock.pending, 0);
      assert.equal(service.network.listeners.size, 0);
    });
  }

  test('the code of a fatal error applies when the close code was lost', async () => {
    const service = fakeService();
    const call = await service.enter();
    service.socket.sendMessage({ type: 'error', code: 'KICKED', message: '', fatal: true });
    service.socket.drop(1006);
    assert.deepEqual(ended(call), ['KICKED', false]);
  });

  test('RATE_LIMITED: resumed, not before the stated time', async () => {
    const service = fakeService();
    await service.enter();
    service.socket.sendMessage({
      type: 'error',
      code: 'RATE_LIMITED',
      message: '',
      fatal: true,
      retryAfterMs: 5000,
    });
    service.socket.drop(4429);
    const took = await nextSocket(service);
    assert.ok(took !== null && took >= 5000);
  });

  test('the snapshot shows offline and the client waits; it connects immediately when online', async () => {
    const service = fakeService();
    const call = await service.enter();
    service.network.online = false;
    service.socket.drop(1006);
    const { connection } = call.snapshot();
    assert.ok(connection.status === 'recovering' && connection.offline);
    await service.ports.clock.advance(10_000);
    assert.equal(service.sockets.length, 1);
    service.network.online = true;
    for (const listener of service.network.listeners) listener();
    assert.equal(service.sockets.length, 2);
  });

  test('the resume carries changes made while disconnected', async () => {
    const service = fakeService();
    const call = await service.enter();
    service.socket.drop(1006);
    call.rename('Mia');
    call.setMicrophone({ kind: 'audio' } as MediaStreamTrack);
    await nextSocket(service);
    const first = await welcomeNext(service);
    assert.deepEqual(
      [first?.['name'], first?.['media']],
      ['Mia', { audio: true, video: false, screen: false }],
    );
  });

  test('[CHAT-1] a line typed while disconnected is sent after the resume, once', async () => {
    const service = fakeService();
    const call = await service.enter();
    service.socket.drop(1006);
    assert.equal(call.sendChat(' hello '), true);
    await nextSocket(service);
    await welcomeNext(service);
    const lines = service.socket.sent.filter(({ type }) => type === 'chat');
    assert.deepEqual(
      lines.map(({ text }) => text),
      ['hello'],
    );
    const id = String(lines[0]?.['id']);
    service.socket.sendMessage({ type: 'chat-ack', id, name: 'Mia', at: 1, proof: PROOF });
    assert.equal(call.snapshot().chat[0]?.status, 'acknowledged');
  });

  test('[CHAT-8] a resume carries own lines and those of others with the proofs of the pods', async () => {
    const service = fakeService();
    const call = await service.enter();
    const line = { id: 'line-of-ada', from: participant('a'), name: 'Ada', text: 'hi', at: 1, proof: PROOF };
    service.socket.sendMessage({ type: 'chat', line });
    call.sendChat('hello');
    const { id } = call.snapshot().chat.find(({ mine }) => mine) ?? assert.fail();
    service.socket.sendMessage({ type: 'chat-ack', id, name: 'Shown Name', at: 2, proof: OTHER_PROOF });
    service.socket.drop(1006);
    await nextSocket(service);
    const first = await welcomeNext(service);
    const own = { id, from: ME, name: 'Shown Name', text: 'hello', at: 2, proof: OTHER_PROOF };
    assert.deepEqual(first?.['chat'], [line, own]);
  });

  test('a line that is empty or too long is refused', async () => {
    const service = fakeService();
    const call = await service.enter();
    assert.equal(call.sendChat('  '), false);
    assert.equal(call.sendChat('x'.repeat(2001)), false);
    assert.equal(call.sendChat('😀'.repeat(2000)), true);
  });
});

describe('a reload of the page', () => {
  test('[RES-11] resumes with the newest token that the socket delivered', async () => {
    const service = fakeService();
    await service.enter();
    service.socket.sendMessage({ type: 'resume-token', resume: 'a-newer-token' });
    service.join();
    await service.settle();
    const first = await welcomeNext(service);
    assert.deepEqual([first?.['type'], first?.['token']], ['resume', 'a-newer-token']);
  });

  test('[RES-3] the same participant resumes without asking for admission, with a higher generation', async () => {
    const service = fakeService();
    await service.enter();
    const call = service.join();
    await service.settle();
    assert.equal(service.joins.length, 1);
    const first = await welcomeNext(service);
    assert.deepEqual([first?.['type'], first?.['generation']], ['resume', 2]);
    assert.equal(call.snapshot().me.participant, ME);
  });

  test('a token that has expired leads to a new join', async () => {
    const service = fakeService();
    await service.enter();
    const call = service.join();
    await service.settle();
    service.socket.open();
    service.socket.drop(CODES.RESUME_EXPIRED.close ?? 0);
    await nextSocket(service);
    assert.equal((await welcomeNext(service))?.['type'], 'enter');
    assert.equal(status(call), 'connected');
  });

  for (const memory of ['', '{', '{"room":"other"}', `{"room":"${ROOM}","generation":-1}`]) {
    test(`memory ${memory || 'empty'} is treated as no memory`, async () => {
      const service = fakeService();
      service.memory = memory;
      assert.equal(status(await service.enter()), 'connected');
      assert.equal(service.socket.sent[0]?.['type'], 'enter');
    });
  }
});
