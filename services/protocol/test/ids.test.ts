import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode } from '../src/decode.ts';
import {
  adHocRoomId,
  parseRoomId,
  ParticipantId,
  participantId,
  PodId,
  RegionId,
  RoomId,
} from '../src/ids.ts';
import { SOCKET_PATH, socketPath } from '../src/http.ts';
import { podDirectedSubject, podSubject, roomSubject } from '../src/subjects.ts';
import { Random } from './random.ts';

const ROUNDS = 2000;
const MAX_NAMED_ROOM = `${'a'.repeat(48)}@${'b'.repeat(16)}`;

describe('[ROOM-1] room ids', () => {
  it('every new ad-hoc id is read back, by the parser and by the schema', () => {
    const random = new Random(4);
    for (let round = 0; round < ROUNDS; round += 1) {
      const room = adHocRoomId(random.bytes(16));
      assert.deepEqual(parseRoomId(room), { kind: 'ad-hoc', room });
      assert.ok(decode(RoomId, room).ok, room);
    }
  });

  it('80 bits of the random bytes are in the id', () => {
    const zero = adHocRoomId(new Uint8Array(16));
    for (let bit = 0; bit < 80; bit += 1) {
      const bytes = new Uint8Array(16);
      bytes[Math.floor(bit / 5)] = 1 << (bit % 5);
      assert.notEqual(adHocRoomId(bytes), zero, `bit ${bit} is lost`);
    }
  });

  it('[ROOM-3] a named room is its name and its home region', () => {
    for (const [room, name, region] of [
      ['standup@eu', 'standup', 'eu'],
      ['a@b', 'a', 'b'],
      ['7@7', '7', '7'],
      ['team-a--blue@eu-west-1', 'team-a--blue', 'eu-west-1'],
      [MAX_NAMED_ROOM, 'a'.repeat(48), 'b'.repeat(16)],
    ] as const) {
      assert.deepEqual(parseRoomId(room), { kind: 'named', room, name, region });
      assert.ok(decode(RoomId, room).ok, room);
    }
  });

  const lookAlikes = [
    ['', 'nothing'],
    ['7k2m-q9xd-4wtv', 'three groups'],
    ['7k2m-q9xd-4wtv-0hze-1111', 'five groups'],
    ['7k2mq9xd4wtv0hze', 'no dashes'],
    ['7k2m-q9xd-4wtv-0hzi', 'an i'],
    ['7k2m-q9xd-4wtv-0hzl', 'an l'],
    ['7k2m-q9xd-4wtv-0hzo', 'an o'],
    ['7k2m-q9xd-4wtv-0hzu', 'a u'],
    ['7K2M-Q9XD-4WTV-0HZE', 'capitals'],
    ['7k2m-q9xd-4wtv-0hze\n', 'a newline after it'],
    [' 7k2m-q9xd-4wtv-0hze', 'a space before it'],
    ['7k2m‐q9xd‐4wtv‐0hze', 'typographic hyphens'],
    ['standup', 'no region'],
    ['@eu', 'no name'],
    ['standup@', 'an empty region'],
    ['standup@eu@us', 'two regions'],
    ['-standup@eu', 'a name that begins with a dash'],
    ['standup-@eu', 'a name that ends with a dash'],
    ['standup@eu-', 'a region that ends with a dash'],
    ['stand.up@eu', 'a dot'],
    ['stand*@eu', 'a star'],
    ['standup@>', 'an angle bracket'],
    ['stand up@eu', 'a space'],
    ['stand/up@eu', 'a slash'],
    ['standup%40eu', 'a percent sign'],
    ['stаndup@eu', 'a Cyrillic a'],
    ['STANDUP@eu', 'capitals in a name'],
    ['standup@eu\n', 'a newline after a named room'],
    [`${'a'.repeat(49)}@eu`, 'a name of 49 characters'],
    [`standup@${'b'.repeat(17)}`, 'a region of 17 characters'],
  ] as const;
  for (const [text, what] of lookAlikes) {
    it(`an id with ${what} is refused`, () => {
      assert.equal(parseRoomId(text), undefined);
      assert.equal(decode(RoomId, text).ok, false);
    });
  }

  it('parser and schema agree on random text', () => {
    const random = new Random(5);
    let rooms = 0;
    for (let round = 0; round < 20_000; round += 1) {
      const near = random.one(['standup@eu', '7k2m-q9xd-4wtv-0hze', MAX_NAMED_ROOM]);
      const at = random.below(near.length);
      const text = near.slice(0, at) + random.text('a0-@.* >ilou\nA', 2) + near.slice(at + random.below(3));
      const parsed = parseRoomId(text);
      if (parsed !== undefined) rooms += 1;
      assert.equal(decode(RoomId, text).ok, parsed !== undefined, JSON.stringify(text));
    }
    assert.ok(rooms > 100, `only ${rooms} of them were rooms`);
  });
});

describe('[BUS-1] subjects', () => {
  it('contain ids as single tokens: no id has a separator or a wildcard of NATS', () => {
    const random = new Random(6);
    const alphabet = 'abz019-_@.*> \t\r\n\0$';
    let accepted = 0;
    for (let round = 0; round < 20_000; round += 1) {
      const text = random.one(['', 'a@', '7k2m-q9xd-4wtv-']) + random.text(alphabet, 4);
      for (const [schema, subject] of [
        [RoomId, roomSubject(text)],
        [PodId, podSubject(text)],
        [PodId, podDirectedSubject(text)],
        [RegionId, `region.${text}`],
        [ParticipantId, `participant.${text}`],
      ] as const) {
        if (!decode(schema, text).ok) continue;
        accepted += 1;
        assert.doesNotMatch(text, /[.*>\s\0]/, JSON.stringify(text));
        assert.equal(subject.split('.').at(-1), text);
      }
    }
    assert.ok(accepted > 1000, `only ${accepted} ids were accepted`);
  });

  it('of directed messages and of others differ for every pod', () => {
    assert.notEqual(podSubject('pod-1'), podDirectedSubject('pod-1'));
    assert.notEqual(podSubject('pod-1'), podSubject('pod-2'));
  });
});

describe('[ROOM-4] participant ids', () => {
  it('every new id matches the grammar and has 17 bytes, on which the envelope relies', () => {
    const random = new Random(7);
    for (let round = 0; round < ROUNDS; round += 1) {
      const participant = participantId(random.bytes(16));
      assert.ok(decode(ParticipantId, participant).ok, participant);
      assert.equal(new TextEncoder().encode(participant).length, 17);
    }
  });

  it('are never room ids, and room ids are never participant ids', () => {
    assert.equal(parseRoomId(participantId(new Uint8Array(16))), undefined);
    assert.equal(decode(ParticipantId, adHocRoomId(new Uint8Array(16))).ok, false);
  });
});

describe('[JOIN-5] the socket address', () => {
  it('contains the room', () => {
    for (const room of ['7k2m-q9xd-4wtv-0hze', 'standup@eu']) {
      assert.equal(SOCKET_PATH.exec(socketPath(room))?.[1], room);
      assert.equal(SOCKET_PATH.exec(`${socketPath(room)}?v=1`)?.[1], room);
    }
  });

  it('does not match other addresses', () => {
    for (const path of [
      '/v1/rooms/a@b/socket/x',
      '/v1/rooms//socket',
      '/v1/rooms/a/b/socket',
      '/x/v1/rooms/a@b/socket',
    ]) {
      assert.equal(SOCKET_PATH.test(path), false, path);
    }
  });
});
