import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CODES, type Code } from '@parley/protocol/codes';
import type { ServerMessage } from '@parley/protocol/server-messages';
import { lobbyAfter, type Lobby } from '../../src/room/lobby.ts';
import { ME, member, participant, welcome } from '../fakes/messages.ts';
import { fakeService, refusal, type FakeService } from '../fakes/service.ts';

const ADA = { participant: participant('a'), name: 'Ada' };
const BO = { participant: participant('b'), name: 'Bo' };
const ROOM_VIEW = welcome().room;
const admit = async (service: FakeService): Promise<void> => {
  service.socket.sendMessage(welcome());
  await service.settle();
};

describe('waiting in the lobby', () => {
  test('[MOD-5] a newcomer is in the lobby, then in the call as soon as an owner admits them', async () => {
    const service = fakeService();
    const call = await service.enterLobby();
    assert.deepEqual(call.snapshot().connection, { status: 'lobby-waiting', offline: false });
    assert.equal(call.snapshot().view?.lobby, true);
    await admit(service);
    assert.equal(call.snapshot().connection.status, 'connected');
    assert.equal(call.snapshot().me.participant, ME);
  });

  test('the time limit of a first join does not end the waiting', async () => {
    const service = fakeService();
    const call = await service.enterLobby();
    for (let at = 0; at < 600_000; at += 4000)
      service.ports.clock.after(at, () => service.socket.sendMessage({ type: 'pong' }));
    await service.ports.clock.advance(600_000);
    assert.equal(call.snapshot().connection.status, 'lobby-waiting');
    assert.equal(service.sockets.length, 1);
  });

  test('[MOD-5] after a lost socket the client asks again with a new ticket, however long ago the join began', async () => {
    const service = fakeService();
    const call = await service.enterLobby();
    await service.ports.clock.advance(9000);
    const shown: string[] = [];
    call.subscribe(() => shown.push(call.snapshot().connection.status));
    for (let lost = 0; lost < 5; lost += 1) {
      const { length } = service.sockets;
      service.socket.drop(1006);
      await service.ports.clock.until(() => service.sockets.length > length, 20_000);
      service.socket.open();
      service.socket.sendMessage({ type: 'lobby-waiting', room: ROOM_VIEW });
      await service.ports.clock.advance(9000);
    }
    assert.equal(service.joins.length, 6);
    assert.deepEqual(new Set(shown), new Set(['lobby-waiting']));
    assert.equal(service.socket.sent[0]?.['type'], 'enter');
    await admit(service);
    assert.equal(call.snapshot().connection.status, 'connected');
  });

  test('a waiting newcomer that is answered "later" waits for that time and tries again', async () => {
    const service = fakeService();
    const call = await service.enterLobby();
    service.answers = [refusal(503, 'STORE_UNAVAILABLE', { 'retry-after': '60' }), ...service.answers];
    service.socket.drop(1006);
    await service.ports.clock.advance(70_000);
    assert.equal(call.snapshot().connection.status, 'lobby-waiting');
    assert.equal(service.sockets.length, 2);
  });

  test('a pod drains: the newcomer asks for admission at another pod', async () => {
    const service = fakeService();
    const call = await service.enterLobby();
    service.socket.drop(CODES.GOAWAY.close ?? 0);
    await service.ports.clock.advance(1000);
    assert.equal(service.sockets.length, 2);
    assert.equal(call.snapshot().connection.status, 'lobby-waiting');
  });

  test('without a network the state is offline, and the waiting continues when the network is back', async () => {
    const service = fakeService();
    const call = await service.enterLobby();
    service.network.online = false;
    service.socket.drop(1006);
    assert.deepEqual(call.snapshot().connection, { status: 'lobby-waiting', offline: true });
    service.network.online = true;
    for (const listener of service.network.listeners) listener();
    await service.settle();
    assert.equal(service.joins.length, 2);
  });

  const endings: readonly Code[] = [
    'LOBBY_DENIED',
    'LOBBY_FULL',
    'LOBBY_TIMEOUT',
    'KICKED',
    'BANNED',
    'ROOM_LOCKED',
    'ROOM_FULL',
  ];
  for (const code of endings) {
    test(`[MOD-5] ${code} ends the waiting and leaves no socket or timer`, async () => {
      const service = fakeService();
      const call = await service.enterLobby();
      service.socket.drop(CODES[code].close ?? 0);
      await service.ports.clock.advance(60_000);
      assert.deepEqual(call.snapshot().connection, {
        status: 'ended',
        reason: code,
        retry: CODES[code].retry,
        retryAfterMs: null,
      });
      assert.equal(service.joins.length, 1);
      assert.equal(service.ports.clock.pending, 0);
    });
  }

  test('leaving the lobby closes the socket', async () => {
    const service = fakeService();
    const call = await service.enterLobby();
    call.leave();
    assert.equal(service.socket.closed, 1000);
    assert.equal(service.ports.clock.pending, 0);
  });

  test('media switched while waiting is announced after the welcome', async () => {
    const service = fakeService();
    const call = await service.enterLobby();
    call.setMicrophone({ kind: 'audio' } as MediaStreamTrack);
    call.rename('Mia');
    const me = { ...member(ME, 'Me'), media: { audio: false, video: false, screen: false } };
    service.socket.sendMessage(welcome({ roster: [me] }));
    assert.deepEqual(
      service.socket.sent.filter(({ type }) => type === 'change'),
      [
        { type: 'change', name: 'Mia' },
        { type: 'change', media: { audio: true, video: false, screen: false } },
      ],
    );
  });

  test('[MOD-5] a participant that returns too late waits again, and receives no media meanwhile', async () => {
    const service = fakeService();
    const call = await service.enter();
    service.socket.sendMessage({ type: 'joined', member: member(ADA.participant, 'Ada') });
    service.socket.drop(CODES.RESUME_EXPIRED.close ?? 0);
    await service.ports.clock.until(() => service.sockets.length === 2, 20_000);
    service.socket.open();
    service.socket.sendMessage({ type: 'lobby-waiting', room: ROOM_VIEW });
    assert.equal(call.snapshot().connection.status, 'lobby-waiting');
    assert.deepEqual(call.snapshot().people, []);
    assert.equal(service.ports.fabric.live.length, 0);
  });
});

describe('the lobby of an owner', () => {
  const changes: readonly (readonly [string, Lobby, ServerMessage, string])[] = [
    ['a welcome brings it anew', [ADA], welcome({ lobby: [BO] }), 'Bo'],
    ['a welcome of a guest brings none', [ADA], welcome(), ''],
    ['a newcomer waits', [ADA], { type: 'lobby-joined', waiting: BO }, 'Ada, Bo'],
    ['a newcomer that is reported twice is one', [ADA], { type: 'lobby-joined', waiting: ADA }, 'Ada'],
    ['a newcomer leaves', [ADA, BO], { type: 'lobby-left', participant: ADA.participant }, 'Bo'],
    [
      'a newcomer that is not known leaves',
      [ADA],
      { type: 'lobby-left', participant: BO.participant },
      'Ada',
    ],
    ['anything else', [ADA], { type: 'pong' }, 'Ada'],
  ];
  for (const [title, before, message, expected] of changes) {
    test(`[MOD-5] ${title}: ${expected || 'none'}`, () => {
      const names = lobbyAfter(before, message).map(({ name }) => name);
      assert.equal(names.join(', '), expected);
    });
  }
});
