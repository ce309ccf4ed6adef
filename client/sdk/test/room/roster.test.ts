import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Member, Presence } from '@parley/protocol/people';
import type { ServerMessage } from '@parley/protocol/server-messages';
import {
  emptyRoster,
  withoutExpired,
  afterMessage,
  nextExpiry,
  welcomed,
  type Roster,
} from '../../src/room/roster.ts';
import { ME, member, participant, welcome } from '../fakes/messages.ts';

const ADA = participant('a');
const BO = participant('b');
const CY = participant('c');

const shown = (roster: Roster): string =>
  [...roster.members.values()].map(({ name, state }) => `${name} ${state}`).join(', ');
const room = (...members: readonly Member[]): Roster =>
  welcomed(emptyRoster, welcome({ roster: [member(ME, 'Me'), ...members] }), 0);

describe('the roster of a client', () => {
  test('[JOIN-9] a welcome shows everyone but ourselves', () => {
    assert.equal(shown(room(member(ADA, 'Ada'), member(BO, 'Bo', 'away'))), 'Ada here, Bo away');
  });

  const changes: readonly (readonly [string, ServerMessage, string])[] = [
    ['joined', { type: 'joined', member: member(CY, 'Cy') }, 'Ada here, Bo away, Cy here'],
    ['joined again', { type: 'joined', member: member(ADA, 'Eve') }, 'Eve here, Bo away'],
    ['ourselves joined', { type: 'joined', member: member(ME, 'Me') }, 'Ada here, Bo away'],
    ['left', { type: 'left', participant: ADA, reason: 'left' }, 'Bo away'],
    [
      'left, of an unknown participant',
      { type: 'left', participant: CY, reason: 'lost' },
      'Ada here, Bo away',
    ],
    ['away', { type: 'away', participant: ADA }, 'Ada away, Bo away'],
    ['back', { type: 'back', participant: BO }, 'Ada here, Bo here'],
    ['back, of an unknown participant', { type: 'back', participant: CY }, 'Ada here, Bo away'],
    [
      'changed',
      {
        type: 'changed',
        participant: ADA,
        name: 'Ada L',
        media: { audio: false, video: true, screen: true },
      },
      'Ada L here, Bo away',
    ],
    ['pong', { type: 'pong' }, 'Ada here, Bo away'],
  ];
  for (const [title, message, expected] of changes) {
    test(`${title}: ${expected}`, () => {
      assert.equal(
        shown(afterMessage(room(member(ADA, 'Ada'), member(BO, 'Bo', 'away')), message)),
        expected,
      );
    });
  }

  const resumes: readonly (readonly [string, boolean, readonly (readonly [string, Presence])[], string])[] = [
    ['a resume forgets people the room does not list', false, [[BO, 'here']], 'bo here'],
    ['[RES-7] a recovering room: they are kept as away', true, [[BO, 'here']], 'Ada away, bo here'],
    [
      'people who came meanwhile follow those we knew',
      false,
      [
        [CY, 'here'],
        [ADA, 'away'],
      ],
      'ada away, cy here',
    ],
  ];
  for (const [title, recovering, listed, expected] of resumes) {
    test(title, () => {
      const names: Record<string, string> = { [ADA]: 'ada', [BO]: 'bo', [CY]: 'cy' };
      const roster = listed.map(([id, state]) => member(id, names[id] ?? '', state));
      const before = room(member(ADA, 'Ada'), member(BO, 'Bo'));
      assert.equal(shown(welcomed(before, welcome({ roster, recovering }), 0)), expected);
    });
  }

  test('[RES-7] a participant that is away and does not return leaves the roster when the grace period ends, not before', () => {
    const before = room(member(ADA, 'Ada'), member(BO, 'Bo'));
    const kept = welcomed(before, welcome({ recovering: true, graceMs: 30_000 }), 1000);
    assert.equal(nextExpiry(kept), 31_000);
    const back = afterMessage(kept, { type: 'joined', member: member(BO, 'Bo') });
    assert.equal(shown(withoutExpired(back, 30_999)), 'Ada away, Bo here');
    assert.equal(shown(withoutExpired(back, 31_000)), 'Bo here');
    assert.equal(nextExpiry(withoutExpired(back, 31_000)), null);
  });

  test('a second resume into the recovering room does not extend the wait', () => {
    const kept = welcomed(room(member(ADA, 'Ada')), welcome({ recovering: true, graceMs: 30_000 }), 0);
    const again = welcomed(kept, welcome({ recovering: true, graceMs: 30_000 }), 10_000);
    assert.equal(nextExpiry(again), 30_000);
  });
});
