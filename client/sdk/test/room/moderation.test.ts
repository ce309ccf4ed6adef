import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CODES } from '@parley/protocol/codes';
import type { Moderation } from '../../src/room/moderation.ts';
import { ROOM, member, participant, welcome } from '../fakes/messages.ts';
import { fakeService, refusal, type FakeService } from '../fakes/service.ts';

const ADA = participant('a');
const BAN = { id: 'ban-1', name: 'Ada', network: true, at: 1 };
const ROOM_URL = `/v1/rooms/${ROOM}`;

async function owner(): Promise<{ readonly service: FakeService; readonly may: Moderation }> {
  const service = fakeService();
  const { moderation } = await service.enter({ ownerKey: 'key' });
  assert.ok(moderation);
  return { service, may: moderation };
}

describe('a join', () => {
  test('[MOD-8] the join carries the device id, and the owner key as a bearer token', async () => {
    const service = fakeService();
    await service.enter({ device: 'device-0123456789', ownerKey: 'key' });
    assert.equal(service.joins[0]?.body, '{"name":"Me","device":"device-0123456789"}');
    assert.equal(service.joins[0]?.authorization, 'Bearer key');
  });

  test('without an owner key there are no moderation commands', async () => {
    const service = fakeService();
    const call = await service.enter();
    assert.equal(call.moderation, null);
    assert.equal(service.joins[0]?.authorization, undefined);
  });
});

describe('the state of the room', () => {
  test('[MOD-3] the lock is known from the welcome and from each change', async () => {
    const service = fakeService();
    const call = await service.enter();
    assert.equal(call.snapshot().view?.locked, false);
    service.socket.sendMessage({ type: 'room-changed', room: { ...welcome().room, locked: true } });
    assert.equal(call.snapshot().view?.locked, true);
  });

  test('the snapshot marks owners, and whether this participant is one', async () => {
    const service = fakeService();
    const call = await service.enter();
    assert.equal(call.snapshot().me.owner, false);
    service.socket.sendMessage({ type: 'joined', member: { ...member(ADA, 'Ada'), owner: true } });
    assert.equal(call.snapshot().people[0]?.owner, true);
    service.socket.sendMessage({
      type: 'changed',
      participant: ADA,
      name: 'Ada L',
      media: member(ADA, '').media,
    });
    assert.equal(call.snapshot().people[0]?.owner, true, 'a change of name keeps it');
  });

  test('[MOD-5] an owner who resumes receives the list of waiting newcomers again', async () => {
    const service = fakeService();
    const call = service.join({ ownerKey: 'key' });
    await service.settle();
    service.socket.open();
    service.socket.sendMessage(welcome({ owner: true, lobby: [{ participant: ADA, name: 'Ada' }] }));
    assert.equal(call.snapshot().me.owner, true);
    assert.equal(call.snapshot().lobby.length, 1);
    service.socket.drop(1006);
    await service.ports.clock.until(() => service.sockets.length === 2, 20_000);
    service.socket.open();
    service.socket.sendMessage(welcome({ owner: true, lobby: [] }));
    assert.deepEqual(call.snapshot().lobby, []);
  });

  test('[MOD-4] each request to mute is distinguishable from the one before, and mutes no one by itself', async () => {
    const service = fakeService();
    const call = await service.enter();
    call.setMicrophone({ kind: 'audio' } as MediaStreamTrack);
    assert.equal(call.snapshot().muteRequests, 0);
    service.socket.sendMessage({ type: 'mute-requested' });
    service.socket.sendMessage({ type: 'mute-requested' });
    assert.equal(call.snapshot().muteRequests, 2);
    assert.equal(call.snapshot().me.media.audio, true);
  });
});

describe('commands of the owner', () => {
  const commands: readonly (readonly [string, string, (may: Moderation) => Promise<unknown>, string])[] = [
    ['MOD-1', `POST ${ROOM_URL}/participants/${ADA}/kick`, (may) => may.kick(ADA), ''],
    ['MOD-4', `POST ${ROOM_URL}/participants/${ADA}/request-mute`, (may) => may.requestMute(ADA), ''],
    ['HAND-4', `POST ${ROOM_URL}/participants/${ADA}/lower-hand`, (may) => may.lowerHand(ADA), ''],
    ['MOD-14', `POST ${ROOM_URL}/participants/${ADA}/mute`, (may) => may.mute(ADA), ''],
    ['MOD-14', `POST ${ROOM_URL}/participants/${ADA}/unmute`, (may) => may.unmute(ADA), ''],
    ['MOD-16', `POST ${ROOM_URL}/participants/${ADA}/make-co-owner`, (may) => may.makeCoOwner(ADA), ''],
    ['MOD-16', `POST ${ROOM_URL}/participants/${ADA}/remove-co-owner`, (may) => may.removeCoOwner(ADA), ''],
    ['MOD-13', `POST ${ROOM_URL}/end`, (may) => may.endCall(), ''],
    ['MOD-5', `POST ${ROOM_URL}/participants/${ADA}/admit`, (may) => may.admit(ADA), ''],
    ['MOD-5', `POST ${ROOM_URL}/participants/${ADA}/deny`, (may) => may.deny(ADA), ''],
    ['MOD-2', `DELETE ${ROOM_URL}/bans/ban-1`, (may) => may.unban('ban-1'), ''],
  ];
  for (const [rule, what, command, body] of commands) {
    test(`[${rule}] ${what}`, async () => {
      const { service, may } = await owner();
      assert.deepEqual(await command(may), { ok: true, value: null });
      const [asked] = service.commands;
      assert.deepEqual([asked?.what, asked?.body, asked?.authorization], [what, body, 'Bearer key']);
    });
  }

  test('[MOD-2] a ban states whether it covers the network, and its answer identifies it for lifting', async () => {
    const { service, may } = await owner();
    service.commandAnswers = [() => Response.json(BAN)];
    assert.deepEqual(await may.ban(ADA, { network: true }), { ok: true, value: BAN });
    assert.equal(service.commands[0]?.what, `POST ${ROOM_URL}/participants/${ADA}/ban`);
    assert.equal(service.commands[0]?.body, '{"network":true}');
  });

  test('[MOD-2] the list of bans', async () => {
    const { service, may } = await owner();
    service.commandAnswers = [() => Response.json({ bans: [BAN] })];
    assert.deepEqual(await may.bans(), { ok: true, value: [BAN] });
    assert.equal(service.commands[0]?.what, `GET ${ROOM_URL}/bans`);
  });

  test('[MOD-3] a changed setting is in the snapshot immediately; only changed settings are sent', async () => {
    const service = fakeService();
    const call = await service.enter({ ownerKey: 'key' });
    service.commandAnswers = [() => Response.json({ ...welcome().room, locked: true })];
    const answer = await call.moderation?.changeRoom({ locked: true });
    assert.equal(answer?.ok, true);
    assert.deepEqual(
      [service.commands[0]?.what, service.commands[0]?.body],
      [`PATCH ${ROOM_URL}`, '{"locked":true}'],
    );
    assert.equal(call.snapshot().view?.locked, true);
  });

  for (const code of ['OWNER_KEY_INVALID', 'PARTICIPANT_NOT_FOUND', 'ROOM_FULL'] as const) {
    test(`${code} is an answer, and the request is sent once`, async () => {
      const { service, may } = await owner();
      service.commandAnswers = [refusal(CODES[code].http ?? 0, code)];
      const answer = await may.admit(ADA);
      assert.deepEqual(answer, { ok: false, reason: code, retry: CODES[code].retry, retryAfterMs: null });
      assert.equal(service.commands.length, 1);
    });
  }

  test('a missing answer is "unreachable", not an exception', async () => {
    const { service, may } = await owner();
    service.commandAnswers = [() => new TypeError('failed to fetch')];
    const answer = may.requestMute(ADA);
    await service.ports.clock.advance(60_000);
    assert.deepEqual(await answer, { ok: false, reason: 'unreachable', retry: true, retryAfterMs: null });
  });

  const repeated: readonly ((may: Moderation) => Promise<unknown>)[] = [
    (may) => may.kick(ADA),
    (may) => may.mute(ADA),
    (may) => may.unmute(ADA),
    (may) => may.admit(ADA),
    (may) => may.deny(ADA),
    (may) => may.changeRoom({ locked: true }),
    (may) => may.bans(),
    (may) => may.unban('ban-1'),
  ];
  test('idempotent commands are repeated while the store is unavailable, within the time limit', async () => {
    const { service, may } = await owner();
    service.commandAnswers = [refusal(503, 'STORE_UNAVAILABLE')];
    for (const command of repeated) {
      const before = service.commands.length;
      const answer = command(may);
      await service.ports.clock.advance(9000);
      assert.match(JSON.stringify(await answer), /STORE_UNAVAILABLE/);
      const tries = service.commands.length - before;
      assert.ok(tries > 1 && tries < 20, `${service.commands.at(-1)?.what}: ${tries} tries`);
    }
  });

  test('[MOD-2] [MOD-4] [MOD-13] a ban, a request to mute and the end of a call are never repeated', async () => {
    const { service, may } = await owner();
    service.commandAnswers = [refusal(503, 'STORE_UNAVAILABLE')];
    await Promise.all([may.ban(ADA, { network: false }), may.requestMute(ADA), may.endCall()]);
    await service.ports.clock.advance(9000);
    assert.equal(service.commands.length, 3);
  });

  test('a kick whose answer was lost has succeeded if the repeated kick finds no participant', async () => {
    const { service, may } = await owner();
    service.commandAnswers = [() => new TypeError('network changed'), refusal(404, 'PARTICIPANT_NOT_FOUND')];
    const answer = may.kick(ADA);
    await service.ports.clock.advance(9000);
    assert.deepEqual(await answer, { ok: true, value: null });
  });

  test('"too many requests" for a minute is returned with its time, without waiting', async () => {
    const { service, may } = await owner();
    service.commandAnswers = [refusal(429, 'TOO_MANY_REQUESTS', { 'retry-after': '60' })];
    const answer = await may.kick(ADA);
    assert.deepEqual(answer, {
      ok: false,
      reason: 'TOO_MANY_REQUESTS',
      retry: true,
      retryAfterMs: 60_000,
    });
    assert.equal(service.commands.length, 1);
  });
});
