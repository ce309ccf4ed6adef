/** Display names, and ids in paths. */
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { nearly, textOf, utf8, type Target } from '../../../scripts/fuzz/target.ts';
import { SOCKET_PATH, socketPath } from '../src/http.ts';
import { parseRoomId } from '../src/ids.ts';
import { LIMITS } from '../src/limits.ts';
import { isVisitorId, tagIn } from '../src/pages.ts';
import { checkName } from '../src/people.ts';

const MAX_CHARS = LIMITS['name.chars'].value;
const NAMES = [
  'Ada',
  'Grace Hopper',
  '日本語 の 名前',
  'مریم\u200c',
  '👩\u200d👩\u200d👧',
  'e\u0301',
  '  a  b  ',
];
const UNSEEN = [
  '\u0000',
  '\u200b',
  '\u200d',
  '\u202e',
  '\u2066',
  '\ufeff',
  '\u2800',
  '\u3164',
  '\u00ad',
  '\u0301',
  '\u2028',
  '\u{e0001}',
  '\u{e0100}',
  '\ud800',
  '\u00a0',
];

const displayName: Target = {
  name: 'names',
  inputs: fc.oneof(
    nearly(NAMES.map(utf8), UNSEEN),
    fc.array(fc.constantFrom(...UNSEEN, ...NAMES), { maxLength: 80 }).map((parts) => utf8(parts.join(''))),
    fc.string({ unit: 'binary', maxLength: 256 }).map(utf8),
  ),
  check(input) {
    const text = textOf(input);
    const name = checkName(text, MAX_CHARS);
    if (name === undefined) return false;
    assert.equal(
      checkName(name, MAX_CHARS),
      name,
      'an accepted name is refused or changed when it is checked again',
    );
    assert.ok(Array.from(name).length <= MAX_CHARS && name.length <= text.length);
    assert.doesNotMatch(name, /[\p{Cc}\p{Cs}\p{Bidi_Control}]|^\s|\s$|\s\s/u);
    assert.match(name, /[\p{L}\p{N}\p{P}\p{S}\p{Co}\p{Cn}]/u);
    return true;
  },
};

const ROOMS = ['7k2m-q9xd-4wtv-0hze', 'standup@eu', 'a@b', `${'r'.repeat(48)}@${'e'.repeat(16)}`];

const ids: Target = {
  name: 'ids',
  inputs: nearly([...ROOMS, 'v0123456789abcdef'].map(utf8), [
    '@',
    '-',
    '/',
    '%2f',
    '..',
    '\n',
    '?',
    'L',
    'é',
    '\0',
  ]),
  check(input) {
    const text = textOf(input);
    const room = parseRoomId(text);
    if (room !== undefined) {
      assert.equal(room.room, text);
      assert.match(text, /^[a-z0-9@-]{3,65}$/);
      if (room.kind === 'named') assert.equal(`${room.name}@${room.region}`, text);
      assert.equal(SOCKET_PATH.exec(socketPath(text))?.[1], text);
      assert.equal(encodeURI(text), text);
      assert.doesNotMatch(text, /[.*>\s]/, 'a room id with a separator or a wildcard of NATS');
    }
    if (isVisitorId(text)) assert.match(tagIn(text), /^[0-9a-z]+$/);
    return room !== undefined || isVisitorId(text);
  },
};

export const targets: readonly Target[] = [displayName, ids];
