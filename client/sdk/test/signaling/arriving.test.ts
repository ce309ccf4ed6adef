/** Many clients arrive at once: a join keeps its slot, an enter or resume its socket. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CODES } from '@parley/protocol/codes';
import { WALL_START } from '../fakes/clock.ts';
import { ME, ROOM, welcome } from '../fakes/messages.ts';
import { admitted, fakeService, type FakeService } from '../fakes/service.ts';
import { nextSocket, status, welcomeNext } from '../fakes/steps.ts';

const SLOT = 'AAECAwQFBgcICQoLDA0ODw';
const busy = (retryAfterMs: number, slot?: string) => (): Response =>
  Response.json({ code: 'BUSY', message: '', retryAfterMs, slot }, { status: 503 });

const slotOf = (service: FakeService, join: number): unknown =>
  (JSON.parse(service.joins[join]?.body ?? '{}') as { slot?: string }).slot;

describe('[JOIN-15] a join with a slot', () => {
  test('[JOIN-15] is repeated at its time with the slot, however long that is, and the snapshot says when', async () => {
    const service = fakeService();
    service.answers = [busy(90_000, SLOT), admitted];
    const call = service.join();
    await service.settle();
    assert.deepEqual(call.snapshot().connection, { status: 'arriving', turnAtMs: WALL_START + 90_000 });
    await service.ports.clock.advance(89_999);
    assert.equal(service.joins.length, 1);
    await service.ports.clock.advance(1);
    await service.settle();
    assert.deepEqual([service.joins.length, slotOf(service, 0), slotOf(service, 1)], [2, undefined, SLOT]);
    assert.equal((await welcomeNext(service))?.['type'], 'enter');
    assert.equal(status(call), 'connected');
  });

  test('[JOIN-15] another answer BUSY replaces the place', async () => {
    const service = fakeService();
    service.answers = [busy(1000, SLOT), busy(500, SLOT), busy(2000, 'another'), admitted];
    const call = service.join();
    await service.ports.clock.advance(3500);
    await service.settle();
    assert.deepEqual(
      service.joins.map(({ at }, join) => [at, slotOf(service, join)]),
      [
        [0, undefined],
        [1000, SLOT],
        [1500, SLOT],
        [3500, 'another'],
      ],
    );
    await welcomeNext(service);
    assert.equal(status(call), 'connected');
  });

  test('[JOIN-15] an answer that is lost is asked for again with the same slot', async () => {
    const service = fakeService();
    service.answers = [busy(1000, SLOT), () => new TypeError('failed to fetch'), admitted];
    service.join();
    assert.notEqual(await nextSocket(service), null);
    assert.equal(slotOf(service, 2), SLOT);
  });

  test('[JOIN-15] without a slot it is repeated like any other that is refused for now', async () => {
    const service = fakeService();
    service.answers = [busy(3000), admitted];
    const call = service.join();
    await service.settle();
    assert.equal(status(call), 'joining');
    await nextSocket(service);
    assert.ok((service.joins[1]?.at ?? 0) >= 3000);
    assert.equal(slotOf(service, 1), undefined);
  });

  test('the wait does not count as the time after which a join fails', async () => {
    const service = fakeService();
    service.answers = [busy(60_000, SLOT), () => new TypeError('failed to fetch')];
    const call = service.join();
    await service.ports.clock.advance(60_000 + 15_000);
    assert.notEqual(status(call), 'ended');
    await service.ports.clock.advance(30_000);
    assert.equal(status(call), 'ended');
  });

  test('leaving during the wait ends the join, and nothing is sent any more', async () => {
    const service = fakeService();
    service.answers = [busy(60_000, SLOT), admitted];
    const call = service.join();
    await service.settle();
    call.leave();
    await service.ports.clock.advance(120_000);
    assert.deepEqual([status(call), service.joins.length, service.memory], ['ended', 1, null]);
    assert.equal(service.ports.clock.pending, 0);
  });

  test('a reload during the wait keeps the place', async () => {
    const service = fakeService();
    service.answers = [busy(60_000, SLOT), admitted];
    service.join();
    await service.ports.clock.advance(20_000);
    const call = service.join();
    await service.settle();
    assert.deepEqual(call.snapshot().connection, { status: 'arriving', turnAtMs: WALL_START + 60_000 });
    await service.ports.clock.advance(39_999);
    assert.equal(service.joins.length, 1);
    await service.ports.clock.advance(1);
    assert.equal(slotOf(service, 1), SLOT);
  });

  for (const memory of [
    { room: 'other', slot: SLOT, untilMs: WALL_START + 5000 },
    { room: ROOM, slot: SLOT, untilMs: WALL_START + 10 ** 9 },
    { room: ROOM, slot: 7, untilMs: WALL_START },
  ])
    test(`memory ${JSON.stringify(memory)} is treated as no memory`, async () => {
      const service = fakeService();
      service.memory = JSON.stringify(memory);
      assert.equal(status(await service.enter()), 'connected');
      assert.equal(slotOf(service, 0), undefined);
    });

  test('the place is forgotten once it served', async () => {
    const service = fakeService();
    service.answers = [busy(1000, SLOT), admitted];
    service.join();
    await service.ports.clock.advance(1000);
    await service.settle();
    assert.equal(service.memory, null);
  });

  test('[JOIN-15] a participant of the call does not wait for a slot when it asks for another address', async () => {
    const service = fakeService();
    const call = await service.enter();
    service.answers = [busy(60_000, SLOT)];
    service.socket.drop(1006);
    for (let failure = 0; failure < 3; failure += 1) {
      await nextSocket(service);
      service.socket.drop(1006);
    }
    const took = await nextSocket(service);
    assert.ok(took !== null && took < 10_000, String(took));
    assert.equal(service.joins.length, 2);
    assert.equal((await welcomeNext(service))?.['type'], 'resume');
    assert.equal(status(call), 'connected');
  });
});

describe('[RES-13] an arrival that waits on its socket', () => {
  /** Answers the pings of the client for this long. */
  async function serve(service: FakeService, ms: number): Promise<void> {
    for (let waited = 0; waited < ms; waited += 1000) {
      await service.ports.clock.advance(1000);
      const pings = service.socket.sent.filter(({ type }) => type === 'ping').length;
      const pongs = answered.get(service) ?? 0;
      for (let pong = pongs; pong < pings; pong += 1) service.socket.sendMessage({ type: 'pong' });
      answered.set(service, pings);
    }
  }
  const answered = new WeakMap<FakeService, number>();

  test('[RES-13] a resume keeps its socket for as long as it waits, and the call goes on', async () => {
    const service = fakeService();
    const call = await service.enter();
    service.socket.drop(1006);
    await nextSocket(service);
    service.socket.open();
    service.socket.sendMessage({ type: 'wait', afterMs: 60_000 });
    const { connection } = call.snapshot();
    assert.ok(connection.status === 'recovering');
    assert.equal(connection.turnAtMs, service.ports.clock.wall() + 60_000);
    await serve(service, 60_000);
    assert.equal(service.sockets.length, 2);
    service.socket.sendMessage(welcome());
    await service.settle();
    assert.equal(status(call), 'connected');
    assert.equal(call.snapshot().me.participant, ME);
  });

  test('[RES-13] an enter does, longer than a first join may take; a new estimate replaces the first', async () => {
    const service = fakeService();
    const call = service.join();
    await service.settle();
    service.socket.open();
    service.socket.sendMessage({ type: 'wait', afterMs: 10_000 });
    assert.deepEqual(call.snapshot().connection, { status: 'arriving', turnAtMs: WALL_START + 10_000 });
    await serve(service, 8000);
    service.socket.sendMessage({ type: 'wait', afterMs: 30_000 });
    assert.deepEqual(call.snapshot().connection, { status: 'arriving', turnAtMs: WALL_START + 38_000 });
    await serve(service, 30_000);
    service.socket.drop(1006);
    assert.notEqual(status(call), 'ended');
    assert.notEqual(await nextSocket(service), null);
    assert.equal((await welcomeNext(service))?.['type'], 'enter');
  });

  test('[RES-13] a reload waits with the same ticket, and joins again once it is used or has expired', async () => {
    const service = fakeService();
    const before = service.join();
    await service.settle();
    service.socket.open();
    const ticket = service.socket.sent[0]?.['ticket'];
    service.socket.sendMessage({ type: 'wait', afterMs: 20_000 });
    await serve(service, 5000);
    const { memory } = service;
    before.leave();
    service.memory = memory;
    const call = service.join();
    await service.settle();
    assert.deepEqual([service.joins.length, service.sockets.length], [1, 2]);
    service.socket.open();
    assert.deepEqual(
      [service.socket.sent[0]?.['type'], service.socket.sent[0]?.['ticket']],
      ['enter', ticket],
    );
    service.socket.drop(CODES.TICKET_USED.close ?? 0);
    await nextSocket(service);
    assert.equal((await welcomeNext(service))?.['type'], 'enter');
    assert.deepEqual([service.joins.length, status(call)], [2, 'connected']);
  });

  for (const untilMs of [WALL_START - 1, WALL_START + 10 ** 9])
    test(`[RES-13] a ticket that is remembered until ${untilMs} is not used`, async () => {
      const service = fakeService();
      const socketUrl = 'wss://parley.test/v1/rooms/old/socket';
      service.memory = JSON.stringify({ room: ROOM, ticket: 'old', socketUrl, untilMs });
      assert.equal(status(await service.enter()), 'connected');
      assert.equal(service.joins.length, 1);
    });

  test('[RES-13] a pod that dies or drains in the meantime is replaced by another, as ever', async () => {
    for (const close of [1006, CODES.GOAWAY.close ?? 0]) {
      const service = fakeService();
      const call = await service.enter();
      service.socket.drop(1006);
      await nextSocket(service);
      service.socket.open();
      service.socket.sendMessage({ type: 'wait', afterMs: 20_000 });
      service.socket.drop(close);
      const { connection } = call.snapshot();
      assert.ok(connection.status === 'recovering' && connection.turnAtMs === null);
      const took = await nextSocket(service);
      assert.ok(took !== null && took <= 1000, String(took));
      assert.equal((await welcomeNext(service))?.['type'], 'resume');
      assert.equal(status(call), 'connected');
    }
  });

  test('a pod that stops answering pings during the wait is given up', async () => {
    const service = fakeService();
    await service.enter();
    service.socket.drop(1006);
    await nextSocket(service);
    service.socket.open();
    service.socket.sendMessage({ type: 'wait', afterMs: 60_000 });
    const took = await nextSocket(service);
    assert.ok(took !== null && took >= 10_000 && took <= 12_000, String(took));
  });

  test('a wait on a socket that is welcomed is ignored', async () => {
    const service = fakeService();
    const call = await service.enter();
    service.socket.sendMessage({ type: 'wait', afterMs: 5000 });
    assert.equal(status(call), 'connected');
  });
});
