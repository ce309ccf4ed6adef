import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ChatLine } from '@parley/protocol/people';
import {
  lastLines,
  received,
  refused,
  added,
  acknowledged,
  unacknowledged,
  type ChatLog,
} from '../../src/room/chat.ts';
import { ME, participant } from '../fakes/messages.ts';

const ADA = participant('a');
const PROOF = 'A'.repeat(22);
const acknowledgement = (id: string, at: number) =>
  ({ type: 'chat-ack', id, name: 'n', at, proof: PROOF }) as const;
const line = (id: string, at: number, from = ADA, text = id): ChatLine => ({
  id,
  from,
  name: 'n',
  text,
  at,
  proof: PROOF,
});
const shown = (log: ChatLog): string =>
  log.map(({ text, status, mine }) => `${mine ? 'my ' : ''}${text} ${status}`).join(', ');

describe('the chat of a client', () => {
  test('[CHAT-2] our line is sending until the service acknowledges it', () => {
    const log = added([], line('l1', 5, ME));
    assert.equal(shown(log), 'my l1 sending');
    assert.equal(shown(acknowledged(log, acknowledgement('l1', 9), ME)), 'my l1 acknowledged');
    assert.equal(acknowledged(log, acknowledgement('l1', 9), ME)[0]?.at, 9);
  });

  test('a refused line is shown as refused, and an acknowledged line never is', () => {
    const log = added(
      acknowledged(added([], line('l1', 1, ME)), acknowledgement('l1', 1), ME),
      line('l2', 2, ME),
    );
    assert.equal(shown(refused(refused(log, 'l1'), 'l2')), 'my l1 acknowledged, my l2 refused');
  });

  test('[CHAT-1] a line that arrives twice is shown once', () => {
    const log = received(received([], line('l1', 1), ME), line('l1', 1), ME);
    assert.equal(shown(log), 'l1 acknowledged');
  });

  test('our own line that returns counts as acknowledged', () => {
    assert.equal(shown(received(added([], line('l1', 1, ME)), line('l1', 3, ME), ME)), 'my l1 acknowledged');
  });

  test('another participant cannot rewrite a line by using its id', () => {
    const log = received([], line('l1', 1, ADA, 'true'), ME);
    assert.equal(shown(received(log, line('l1', 1, participant('e'), 'false'), ME)), 'true acknowledged');
  });

  test('another participant cannot rewrite our line, but we can, under the participant id of a new join', () => {
    const log = added([], line('l1', 1, ME, 'true'));
    const stranger = participant('e');
    assert.equal(shown(received(log, line('l1', 1, stranger, 'false'), ME)), 'my true sending');
    assert.equal(shown(received(log, line('l1', 1, stranger, 'true'), stranger)), 'my true acknowledged');
  });

  test('lines are sorted by their times, in whatever order they arrive', () => {
    const log = [3, 1, 2].reduce<ChatLog>((log, at) => received(log, line(`l${at}`, at), ME), []);
    assert.equal(shown(log), 'l1 acknowledged, l2 acknowledged, l3 acknowledged');
  });

  test('[CHAT-1] after a resume an unacknowledged line is sent again under the same id', () => {
    const log = added(
      acknowledged(added([], line('l1', 1, ME)), acknowledgement('l1', 1), ME),
      line('l2', 2, ME),
    );
    assert.deepEqual(unacknowledged(log), [{ type: 'chat', id: 'l2', text: 'l2' }]);
  });

  test('[CHAT-4] a resume carries the last 20 acknowledged lines', () => {
    let log: ChatLog = [];
    for (let at = 1; at <= 30; at += 1) log = received(log, line(`l${at}`, at), ME);
    log = added(log, line('mine', 31, ME));
    const ids = lastLines(log).map(({ id }) => id);
    assert.deepEqual([ids.length, ids[0], ids.at(-1)], [20, 'l11', 'l30']);
  });

  test('[LIM-2] a resume omits long lines so that it stays a control message', () => {
    let log: ChatLog = [];
    for (let at = 1; at <= 30; at += 1) log = received(log, line(`l${at}`, at, ADA, 'é'.repeat(2000)), ME);
    const lines = lastLines(log);
    assert.equal(lines.at(-1)?.id, 'l30');
    assert.ok(JSON.stringify(lines).length < 8192);
  });

  test('[CHAT-8] a line typed before a new join is accepted, and restored again, under the new participant id', () => {
    const now = participant('b');
    const log = acknowledged(added([], line('l1', 1, ME)), acknowledgement('l1', 2), now);
    assert.equal(shown(log), 'my l1 acknowledged');
    assert.deepEqual(
      lastLines(log).map(({ id, from }) => [id, from]),
      [['l1', now]],
    );
  });

  test('at most 500 lines are kept', () => {
    let log: ChatLog = [];
    for (let at = 1; at <= 600; at += 1) log = received(log, line(`l${at}`, at), ME);
    assert.deepEqual([log.length, log[0]?.id], [500, 'l101']);
  });
});
