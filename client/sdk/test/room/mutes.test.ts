import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Welcome } from '@parley/protocol/server-messages';
import type { Call } from '../../src/call.ts';
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
