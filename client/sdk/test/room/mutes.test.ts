import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Welcome } from '@parley/protocol/server-messages';
import type { Call } from '../../src/call.ts';
import type { Moderation } from '../../src/room/moderation.ts';
import { fakeTrack } from '../fakes/media.ts';
import { ME, member, participant, welcome } from '../fakes/messages.ts';
import { fakeService, type FakeService } from '../fakes/service.ts';

const ADA = participant('a');
const SPEAKS = { ...member(ADA, 'Ada'), media: { audio: true, video: true, screen: false } };
const roster = [member(ME, 'Me'), SPEAKS];

/** A call with Ada, whose microphone is on, as is ours. */
async function talking(
  about: Partial<Welcome> = {},
): Promise<{ readonly service: FakeService; readonly call: Call }> {
  const service = fakeService();
  const call = service.join();
  await service.settle();
  call.setMicrophone(fakeTrack('audio'));
  service.socket.open();
  service.socket.sendMessage(welcome({ roster, ...about }));
  return { service, call };
}

const mutes = (all: boolean, ...participants: string[]) =>
  ({ type: 'mutes', mutes: { all, participants } }) as const;

describe('a participant that an owner muted', () => {
  test('[MOD-14] [MOD-15] is shown as muted with the microphone off, whatever it claims', async () => {
    const { service, call } = await talking();
    const shown = () => call.snapshot().people.map(({ muted, media }) => [muted, media.audio, media.video]);
    assert.deepEqual(shown(), [[false, true, true]]);
    service.socket.sendMessage(mutes(false, ADA));
    assert.deepEqual(shown(), [[true, false, true]]);
    const [before] = call.snapshot().people;
    service.socket.sendMessage({ type: 'changed', participant: ADA, name: 'Ada', media: SPEAKS.media });
    assert.deepEqual(shown(), [[true, false, true]]);
    assert.equal(call.snapshot().people[0], before, 'nothing of it changed');
    service.socket.sendMessage(mutes(false));
    assert.deepEqual(shown(), [[false, true, true]]);
  });

  test('[MOD-14] everyone is, but owners and exceptions, also one that joins later', async () => {
    const { service, call } = await talking();
    service.socket.sendMessage(mutes(true, ADA));
    assert.equal(call.snapshot().allMuted, true);
    assert.equal(call.snapshot().people[0]?.muted, false);
    for (const [letter, owner] of [
      ['b', false],
      ['c', true],
    ] as const) {
      const later = { ...member(participant(letter), letter), owner };
      service.socket.sendMessage({ type: 'joined', member: later });
      assert.equal(call.snapshot().people.at(-1)?.muted, !owner);
    }
  });
});

describe('the own microphone', () => {
  test('[MOD-15] is not sent while an owner mutes this participant, and not again by itself', async () => {
    const { service, call } = await talking();
    assert.equal(call.snapshot().me.media.audio, true);
    service.socket.sendMessage(mutes(true));
    assert.deepEqual([call.snapshot().me.muted, call.snapshot().me.media.audio], [true, false]);
    call.setMicrophone(fakeTrack('audio'));
    assert.equal(call.snapshot().me.media.audio, false);
    service.socket.sendMessage(mutes(false));
    assert.deepEqual([call.snapshot().me.muted, call.snapshot().me.media.audio], [false, false]);
    call.setMicrophone(fakeTrack('audio'));
    assert.equal(call.snapshot().me.media.audio, true);
  });

  test('[MOD-14] is not sent where the welcome says so, and an owner is never muted', async () => {
    const { call } = await talking({ mutes: { all: true, participants: [] } });
    assert.deepEqual([call.snapshot().me.muted, call.snapshot().me.media.audio], [true, false]);
    const owner = await talking({ mutes: { all: true, participants: [] }, owner: true });
    assert.deepEqual([owner.call.snapshot().me.muted, owner.call.snapshot().me.media.audio], [false, true]);
  });

  test('[MOD-14] a resume keeps the mutes, also on a pod that does not know them', async () => {
    const { service, call } = await talking({ mutes: { all: false, participants: [ADA, ME] } });
    service.socket.drop(1006);
    await service.ports.clock.until(() => service.sockets.length === 2, 20_000);
    service.socket.open();
    service.socket.sendMessage(welcome({ roster }));
    assert.deepEqual([call.snapshot().me.muted, call.snapshot().people[0]?.muted], [true, true]);
  });
});

describe('co-owners', () => {
  const coOwners = (...participants: string[]) => ({ type: 'co-owners', coOwners: participants }) as const;
  const kinds = (call: Call) =>
    [call.snapshot().me, ...call.snapshot().people].map(({ owner, coOwner }) => [owner, coOwner]);

  test('[MOD-16] are owners for as long as the service says, and are not muted', async () => {
    const { service, call } = await talking({ mutes: { all: true, participants: [] }, coOwners: [ADA] });
    assert.deepEqual(kinds(call), [
      [false, false],
      [true, true],
    ]);
    assert.deepEqual([call.snapshot().me.muted, call.snapshot().people[0]?.muted], [true, false]);
    service.socket.sendMessage(coOwners(ME));
    assert.deepEqual(kinds(call), [
      [true, true],
      [false, false],
    ]);
    assert.deepEqual([call.snapshot().me.muted, call.snapshot().people[0]?.muted], [false, true]);
    service.socket.sendMessage(coOwners());
    assert.deepEqual([call.snapshot().me.owner, call.snapshot().me.muted], [false, true]);
  });

  test('[MOD-16] one who joined with the owner key is an owner, and no co-owner', async () => {
    const roster = [
      { ...member(ME, 'Me'), owner: true },
      { ...SPEAKS, owner: true },
    ];
    const { call } = await talking({ owner: true, roster, coOwners: [ME, ADA] });
    assert.deepEqual(kinds(call), [
      [true, false],
      [true, false],
    ]);
  });

  test('[MOD-16] commands are sent with the newest token of this participant, and there are none before and after', async () => {
    const { service, call } = await talking();
    const commands = (): Moderation | null => call.moderation;
    assert.equal(commands(), null);
    service.socket.sendMessage(coOwners(ME));
    await commands()?.mute(ADA);
    service.socket.sendMessage({ type: 'resume-token', resume: 'newer' });
    await commands()?.mute(ADA);
    assert.deepEqual(
      service.commands.map(({ authorization }) => authorization),
      [`Bearer ${welcome().resume}`, 'Bearer newer'],
    );
    service.socket.sendMessage(coOwners(ADA));
    assert.equal(commands(), null);
  });

  test('[MOD-16] where the owner key of this device is refused, the token of a co-owner takes its place', async () => {
    const service = fakeService();
    const call = await service.enter({ ownerKey: 'wrong' });
    service.socket.sendMessage(coOwners(call.snapshot().me.participant ?? ''));
    await call.moderation?.mute(ADA);
    assert.equal(service.commands[0]?.authorization, `Bearer ${welcome().resume}`);
  });

  test('[MOD-16] [MOD-5] one that is none any more sees no lobby', async () => {
    const { service, call } = await talking({ coOwners: [ME], lobby: [{ participant: ADA, name: 'Ada' }] });
    assert.equal(call.snapshot().lobby.length, 1);
    service.socket.sendMessage(coOwners());
    assert.deepEqual(call.snapshot().lobby, []);
  });

  test('[MOD-16] a welcome that does not name them keeps those that are known', async () => {
    const { service, call } = await talking({ coOwners: [ADA] });
    service.socket.drop(1006);
    await service.ports.clock.until(() => service.sockets.length === 2, 20_000);
    service.socket.open();
    service.socket.sendMessage(welcome({ roster }));
    assert.equal(call.snapshot().people[0]?.coOwner, true);
  });
});
