import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Enter, Resume } from '@parley/protocol/client-messages';
import { defaultLimits } from '@parley/protocol/limits';
import { createTokens } from '../../src/adapters/tokens.ts';
import { implausible } from '../../src/server/plausible.ts';
import { ratesOf } from '../../src/server/rates.ts';
import { NO_MEDIA } from '../support/client.ts';
import { keySet, randomRoom } from '../support/pod.ts';

describe('[LIM-12] the rate of resumes as it is set', () => {
  const limits = defaultLimits();

  test('[LIM-12] lets the sockets of a large office resume from a dead pod, and at once from the next', () => {
    const { resumes } = ratesOf(limits, 0);
    for (let pods = 0; pods < 2; pods += 1)
      for (let socket = 0; socket < limits['address.sockets']; socket += 1)
        assert.equal(resumes.take('203.0.113.1', 1000), undefined);
    assert.notEqual(resumes.take('203.0.113.1', 1000), undefined);
  });

  test('[LIM-17] lets all clients that a pod has room for read the store at once', () => {
    const { podReads, podEnters } = ratesOf(limits, 0);
    for (let socket = 0; socket < limits['pod.sockets']; socket += 1) {
      for (const reads of [podReads, podEnters]) assert.ok(reads.take(1, 1000));
    }
    for (const reads of [podReads, podEnters]) assert.ok(!reads.take(1, 1000));
  });
});

describe('[LIM-12] what is looked at before a signature', async () => {
  const room = randomRoom();
  const strangers = createTokens(keySet());
  const sub = 'p0000000000000000';
  const resume = (token: string): Resume => ({
    type: 'resume',
    token,
    generation: 2,
    name: 'Eve',
    media: NO_MEDIA,
    chat: [],
  });
  const enter = (ticket: string): Enter => ({
    type: 'enter',
    ticket,
    generation: 1,
    name: 'Eve',
    media: NO_MEDIA,
  });
  const claims = { sub, room, generation: 1, since: 0 };
  const good = strangers.signResume(claims, 60_000);

  const CASES = [
    ['a token of the right form, with any signature', resume(good), undefined],
    ['a ticket of the right form', enter(strangers.signTicket({ sub, room }, 60_000)), undefined],
    ['a clock that is a little off', resume(strangers.signResume(claims, -1000)), undefined],
    ['an expired token', resume(strangers.signResume(claims, -60_000)), 'RESUME_EXPIRED'],
    ['an expired ticket', enter(strangers.signTicket({ sub, room }, -60_000)), 'TICKET_EXPIRED'],
    [
      'another room',
      resume(strangers.signResume({ ...claims, room: randomRoom() }, 60_000)),
      'RESUME_INVALID',
    ],
    ['a ticket as a token', resume(strangers.signTicket({ sub, room }, 60_000)), 'RESUME_INVALID'],
    ['a token as a ticket', enter(good), 'TICKET_INVALID'],
    ['no participant', enter(strangers.signTicket({ sub: 'root', room }, 60_000)), 'TICKET_INVALID'],
    ['nothing', resume(''), 'RESUME_INVALID'],
    ['two dots and nothing', resume('..'), 'RESUME_INVALID'],
    ['four parts', resume(`${good}.x`), 'RESUME_INVALID'],
    ['two parts', resume(good.split('.').slice(0, 2).join('.')), 'RESUME_INVALID'],
    ['a payload that is no JSON', resume('x.eA.x'), 'RESUME_INVALID'],
    ['a payload that is null', resume(`x.${Buffer.from('null').toString('base64url')}.x`), 'RESUME_INVALID'],
  ] as const;
  for (const [title, message, code] of CASES)
    test(`[LIM-12] ${title}: ${code ?? 'may be good'}`, () => assert.equal(implausible(message, room), code));
});
