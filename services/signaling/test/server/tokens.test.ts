/** One key set for every region, and how it is rotated while tokens are out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLOCK_TOLERANCE_S } from '../../src/adapters/key-set.ts';
import { createTokens } from '../../src/adapters/tokens.ts';
import { keySet, randomRoom } from '../support/pod.ts';

const HOUR_MS = 3_600_000;
const claims = { sub: 'p0123456789abcdef', room: randomRoom() };
const [old, next] = [keySet('old'), keySet('next')];
const both = [...old.keys, ...next.keys];
/** As a region has it that verifies with a key and does not sign with it. */
const publicOf = (key: object): object => ({ ...key, d: undefined });

test('[JOIN-4] a ticket expires on the pod that signed it as on every other (ticket.ttl)', (context) => {
  const [pod, other] = [createTokens(old), createTokens(old)];
  context.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const ticket = pod.signTicket(claims, 30_000);
  assert.ok(pod.isOwnTicket(ticket) && pod.verifyTicket(pod.signTicket({ ...claims }, 30_001)).ok);
  context.mock.timers.tick(1000 * (30 + CLOCK_TOLERANCE_S + 1));
  for (const tokens of [pod, other])
    assert.deepEqual(tokens.verifyTicket(ticket), { ok: false, reason: 'expired' });
});

test('[JOIN-8] a pod forgets its own ticket when it is used, and can still verify it; others are remembered as long as they may be used', (context) => {
  const pod = createTokens(old);
  context.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const used = pod.signTicket(claims, 30_000);
  const later = pod.signTicket({ ...claims, sub: 'p0123456789abcdeg' }, 30_000);
  const expected = pod.verifyTicket(used);
  assert.ok(expected.ok && !pod.isOwnTicket(used) && pod.isOwnTicket(later));
  assert.deepEqual(pod.verifyTicket(used), expected);
  context.mock.timers.tick(29_000);
  const newest = pod.signTicket({ ...claims, sub: 'p0123456789abcdeh' }, 30_000);
  assert.ok(pod.isOwnTicket(later) && pod.isOwnTicket(newest));
  context.mock.timers.tick(2000);
  pod.signTicket(claims, 30_000);
  assert.ok(!pod.isOwnTicket(later) && pod.isOwnTicket(newest), 'also after the generations have changed');
});

test('[KEY-4] a token of one kind is none of another, also for the pod that signed it', () => {
  const tokens = createTokens(old);
  const resume = tokens.signResume({ ...claims, generation: 1, since: 0 }, HOUR_MS);
  assert.deepEqual(tokens.verifyTicket(resume), { ok: false, reason: 'invalid' });
  const ticket = tokens.signTicket(claims, HOUR_MS);
  assert.deepEqual(tokens.verifyResume(ticket), { ok: false, reason: 'invalid' });
});

test('[KEY-2] what one region signs every region verifies with the same set, also where it is not the active key', () => {
  const one = createTokens({ active: 'old', keys: both });
  const other = createTokens({ active: 'next', keys: [...old.keys.map(publicOf), ...next.keys] });
  for (const [signer, reader] of [
    [one, other],
    [other, one],
  ] as const) {
    assert.ok(reader.verifyTicket(signer.signTicket(claims, HOUR_MS)).ok);
    const resume = signer.signResume({ ...claims, generation: 1, since: 0 }, HOUR_MS);
    assert.ok(reader.verifyResume(resume).ok);
  }
  assert.throws(() => createTokens({ active: 'gone', keys: both }), /active key gone/);
  assert.throws(
    () =>
      createTokens({
        active: 'old',
        keys: [...old.keys, ...next.keys.map((key) => ({ ...key, kid: 'old' }))],
      }),
    /two keys have the kid old/,
  );
  const mixed = { ...old.keys[0], x: next.keys[0]?.x };
  assert.throws(
    () => createTokens({ active: 'old', keys: [mixed] }),
    /active key old do not belong together/,
  );
});

test('[KEY-3] in each step of a rotation every pod reads what every other signs; a key that is dropped is worth nothing', () => {
  const steps = [
    { active: 'old', keys: old.keys },
    { active: 'old', keys: both },
    { active: 'next', keys: both },
    { active: 'next', keys: next.keys },
  ];
  const isRead = (signer: object, reader: object): boolean => {
    const ticket = createTokens(signer).signTicket(claims, HOUR_MS);
    return createTokens(reader).verifyTicket(ticket).ok;
  };
  // The last key is dropped when no token of it is left: only then pods of the step before sign with the next one.
  for (const [one, other] of [steps.slice(0, 2), steps.slice(1, 3), steps.slice(2)] as [object, object][]) {
    assert.ok(isRead(one, other));
    assert.ok(isRead(other, one));
  }
  assert.equal(isRead({ active: 'old', keys: old.keys }, { active: 'next', keys: next.keys }), false);
});
