import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeNames } from '@parley/protocol/codes';
import { ENDINGS, sentence } from '../src/text/endings.ts';
import { moderationProblem } from '../src/text/moderation.ts';
import { mediaProblemText } from '../src/text/media-problems.ts';
import { waitMs } from '../src/pages/waiting.ts';

test('every code of the protocol has a sentence for users and a next step', () => {
  for (const reason of [...codeNames(), 'left', 'unreachable'] as const) {
    const ending = ENDINGS[reason];
    assert.ok(ending, `${reason} has no text`);
    assert.match(ending.title, /^[A-Z].{5,48}[^.]$/u, `${reason}: a short title without a full stop`);
    assert.match(ending.body, /^[A-Z].{15,160}[.?]$/u, `${reason}: one or two sentences`);
    assert.ok(ending.next.length > 0, `${reason} is a dead end`);
  }
});

test('no text shows a code, an HTTP status or an internal term', () => {
  for (const reason of [...codeNames(), 'left', 'unreachable'] as const)
    assert.doesNotMatch(
      sentence(reason as 'unreachable'),
      /[A-Z]{2,}_|\b[45]\d\d\b|socket|ticket|token|pod\b|null/,
    );
});

test('a failed command of an owner is reported in a sentence, without an internal term', () => {
  for (const reason of [...codeNames(), 'unreachable'] as const) {
    const text = moderationProblem(reason);
    assert.match(text, /^[A-Z].{15,120}\.$/u, reason);
    assert.doesNotMatch(text, /[A-Z]{2,}_|\b[45]\d\d\b|socket|ticket|token|pod\b|null/, reason);
  }
});

test('temporary failures are retried automatically, and refusals never are', () => {
  for (const waits of [
    'unreachable',
    'TOO_MANY_JOINS',
    'ROOM_HOME_UNREACHABLE',
    'POD_FULL',
    'BUSY',
    'NOT_READY',
    'LOBBY_FULL',
  ] as const)
    assert.equal(ENDINGS[waits].auto, true, waits);
  for (const stays of [
    'BANNED',
    'KICKED',
    'CALL_ENDED',
    'LOBBY_DENIED',
    'LOBBY_TIMEOUT',
    'REPLACED',
    'ROOM_DELETED',
    'ROOM_LOCKED',
    'ROOM_NOT_FOUND',
    'left',
  ] as const)
    assert.equal(ENDINGS[stays].auto, false, stays);
});

test('a waiting page waits for the stated time, otherwise longer each time up to a minute', () => {
  assert.equal(waitMs(42_000, 3), 42_000);
  assert.deepEqual(
    [0, 1, 2, 3, 4, 20].map((tries) => waitMs(null, tries)),
    [4000, 8000, 16_000, 32_000, 60_000, 60_000],
  );
});

test('every device error states what happened and what to do', () => {
  for (const problem of ['refused', 'missing', 'busy', 'insecure', 'unsupported', 'lost', 'failed'] as const)
    for (const subject of ['camera', 'microphone', 'both'] as const) {
      const text = mediaProblemText(problem, subject);
      assert.ok(text.title.length > 10 && text.advice.length > 20, `${problem} ${subject}`);
    }
});
