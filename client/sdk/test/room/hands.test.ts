import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CODES } from '@parley/protocol/codes';
import type { Member } from '@parley/protocol/people';
import { handQueue, nextHand } from '../../src/room/hands.ts';
import { ME, member, participant, welcome } from '../fakes/messages.ts';
import { fakeService } from '../fakes/service.ts';

const [ADA, BO, CY] = ['a', 'b', 'c'].map(participant) as [string, string, string];
const NO_MEDIA = { audio: false, video: false, screen: false };
const raised = (id: string, hand: number): Member => {
  const one = member(id, id);
  return { ...one, media: { ...one.media, hand } };
};

describe('the queue of hands', () => {
  test('[HAND-2] the lowest number is first, equal ones are ordered by id, in whichever order they are known', () => {
    const up = [
      [CY, { ...NO_MEDIA, hand: 2 }],
      [BO, { ...NO_MEDIA, hand: 7 }],
      [ME, NO_MEDIA],
      [ADA, { ...NO_MEDIA, hand: 2 }],
    ] as const;
    assert.deepEqual(handQueue(up), [ADA, CY, BO]);
    assert.deepEqual(handQueue(up.toReversed()), [ADA, CY, BO]);
  });

  test('[HAND-2] a hand that is raised now comes after all that are up, and never above the highest number', () => {
    assert.equal(nextHand([]), 1);
    assert.equal(nextHand([[ADA, NO_MEDIA]]), 1);
    assert.equal(nextHand([[ADA, { ...NO_MEDIA, hand: 5 }]]), 6);
    assert.equal(nextHand([[ADA, { ...NO_MEDIA, hand: 2 ** 31 }]]), 2 ** 31);
  });
});

describe('the hands of a call', () => {
  const handsSent = (sent: readonly Record<string, unknown>[]): unknown[] =>
    sent.flatMap((message) => (message['type'] === 'change' ? [message['media']] : []));

  test('[HAND-2] a client raises its hand after those that it sees, and lowers it with media without a hand', async () => {
    const service = fakeService();
    const call = await service.enter();
    service.socket.sendMessage({ type: 'joined', member: raised(ADA, 4) });
    assert.deepEqual(call.snapshot().hands, [ADA]);
    call.setHand(true);
    call.setHand(true);
    assert.deepEqual(call.snapshot().hands, [ADA, ME]);
    service.socket.sendMessage({
      type: 'changed',
      participant: ADA,
      name: 'Ada',
      media: NO_MEDIA,
    });
    assert.deepEqual(call.snapshot().hands, [ME]);
    call.setHand(false);
    assert.deepEqual(call.snapshot().hands, []);
    assert.deepEqual(handsSent(service.socket.sent), [{ ...NO_MEDIA, hand: 5 }, NO_MEDIA]);
  });

  test('[HAND-4] a hand that an owner lowers stays down: the next changes and a resume are without it', async () => {
    const service = fakeService();
    const call = await service.enter();
    call.setHand(true);
    service.socket.sendMessage({ type: 'hand-lowered' });
    assert.deepEqual(call.snapshot().hands, []);
    assert.equal(call.snapshot().me.media.hand, undefined);
    assert.deepEqual(handsSent(service.socket.sent).at(-1), NO_MEDIA);
    const { length } = service.socket.sent;
    service.socket.sendMessage({ type: 'hand-lowered' });
    assert.equal(service.socket.sent.length, length, 'a second one changes nothing');
  });

  test('[HAND-1] a lost socket resumes with the hand as it is now', async () => {
    const service = fakeService();
    const call = await service.enter();
    call.setHand(true);
    service.socket.drop(1006);
    await service.ports.clock.until(() => service.sockets.length > 1, 20_000);
    service.socket.open();
    assert.deepEqual(service.socket.sent[0]?.['media'], { ...NO_MEDIA, hand: 1 });
    assert.deepEqual(call.snapshot().hands, [ME]);
  });

  test('[HAND-1] a reload resumes with the hand, with its number; one that was lowered stays down', async () => {
    const service = fakeService();
    const first = await service.enter();
    service.socket.sendMessage({ type: 'joined', member: raised(ADA, 8) });
    first.setHand(true);
    const reloaded = await service.enter();
    assert.deepEqual(service.socket.sent[0]?.['media'], { ...NO_MEDIA, hand: 9 });
    assert.deepEqual(reloaded.snapshot().me.media.hand, 9);
    reloaded.setHand(false);
    await service.enter();
    assert.deepEqual(service.socket.sent[0]?.['media'], NO_MEDIA);
  });

  test('[HAND-1] a hand ends with its participant: one that joins again has none', async () => {
    const service = fakeService();
    const call = await service.enter();
    call.setHand(true);
    service.socket.drop(CODES.RESUME_EXPIRED.close ?? 0);
    await service.ports.clock.until(() => service.sockets.length > 1, 20_000);
    service.socket.open();
    assert.equal(service.socket.sent[0]?.['type'], 'enter');
    assert.deepEqual(service.socket.sent[0]?.['media'], NO_MEDIA);
    assert.equal(call.snapshot().me.media.hand, undefined);
  });

  test('[HAND-2] a hand is raised once the queue is known', async () => {
    const service = fakeService();
    const call = service.join();
    call.setHand(true);
    await service.settle();
    service.socket.open();
    service.socket.sendMessage(welcome({ roster: [member(ME, 'Me'), raised(ADA, 4)] }));
    assert.deepEqual(call.snapshot().hands, [ADA]);
    call.setHand(true);
    assert.deepEqual(call.snapshot().hands, [ADA, ME]);
  });

  test('[HAND-1] a client that joins late sees the hands that are up', async () => {
    const service = fakeService();
    const call = service.join();
    await service.settle();
    service.socket.open();
    assert.deepEqual(call.snapshot().hands, []);
    service.socket.sendMessage(
      welcome({ roster: [member(ME, 'Me'), raised(BO, 2), raised(ADA, 3), member(CY, 'Cy')] }),
    );
    assert.deepEqual(call.snapshot().hands, [BO, ADA]);
  });

  test('[HAND-1] when the room has another hand of ours, as of a message that overtook a resume, it is corrected', async () => {
    const service = fakeService();
    const call = service.join();
    await service.settle();
    service.socket.open();
    const outdated = { ...member(ME, 'Me'), media: { ...NO_MEDIA, hand: 3 } };
    service.socket.sendMessage(welcome({ roster: [outdated] }));
    assert.deepEqual(handsSent(service.socket.sent), [NO_MEDIA]);
    assert.deepEqual(call.snapshot().hands, []);
  });
});

describe('reactions', () => {
  test('[REACT-1] a reaction, our own too, is in the snapshot for 5 s', async () => {
    const service = fakeService();
    const call = await service.enter();
    const shown = (): string[] => call.snapshot().reactions.map(({ from, emoji }) => `${from} ${emoji}`);
    assert.equal(call.react('👍'), true);
    await service.ports.clock.advance(3000);
    service.socket.sendMessage({ type: 'reaction', from: ADA, emoji: '🎉' });
    assert.deepEqual(shown(), [`${ME} 👍`, `${ADA} 🎉`]);
    assert.deepEqual(service.socket.sent.at(-1), { type: 'reaction', emoji: '👍' });
    await service.ports.clock.advance(2500);
    assert.deepEqual(shown(), [`${ADA} 🎉`]);
    await service.ports.clock.advance(2500);
    assert.deepEqual(shown(), []);
  });

  test('[REACT-1] what is no reaction, and a reaction without a connection, is not sent', async () => {
    const service = fakeService();
    const call = service.join();
    assert.equal(call.react('👍'), false);
    await service.settle();
    service.socket.open();
    service.socket.sendMessage(welcome());
    const { length } = service.socket.sent;
    for (const text of ['hello', '🐢', '', '👍👍']) assert.equal(call.react(text), false);
    service.socket.drop(1006);
    assert.equal(call.react('👍'), false);
    assert.deepEqual([service.sockets[0]?.sent.length, call.snapshot().reactions], [length, []]);
  });

  test('at most 50 are kept, the newest, and the end of the call leaves no timer', async () => {
    const service = fakeService();
    const call = await service.enter();
    for (let one = 0; one < 60; one += 1)
      service.socket.sendMessage({ type: 'reaction', from: ADA, emoji: '👏' });
    assert.deepEqual([call.snapshot().reactions.length, call.snapshot().reactions.at(-1)?.id], [50, 60]);
    call.leave();
    assert.equal(service.ports.clock.pending, 0);
    assert.deepEqual(call.snapshot().reactions, []);
  });
});

test('[GEN-5] a message of a type that the client does not know is ignored', async () => {
  const service = fakeService();
  const call = await service.enter();
  service.socket.text(JSON.stringify({ type: 'raise-eyebrow', from: ADA }));
  service.socket.text(JSON.stringify({ type: 'reaction', from: ADA, emoji: '🐢' }));
  assert.deepEqual([call.snapshot().connection.status, call.snapshot().reactions], ['connected', []]);
});
