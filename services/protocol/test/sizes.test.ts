import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BusMessage, Entry, Section } from '../src/bus.ts';
import { decodeBusMessage, decodeClientMessage } from '../src/decode.ts';
import { LIMITS } from '../src/limits.ts';
import {
  ISSUER,
  RESUME_AUDIENCE,
  TICKET_AUDIENCE,
  type ResumeClaims,
  type TicketClaims,
  type VisitorMarks,
} from '../src/tokens.ts';

/** The largest message of a NATS server, as the charts set it (`max_payload`). */
const NATS_BYTES = 1_048_576;
/** An Ed25519 signature in base64url. */
const SIGNATURE_CHARS = 86;

const ROOM = `${'r'.repeat(48)}@${'e'.repeat(16)}`;
const POD = 'p'.repeat(63);
const MARK = 'A'.repeat(22);
const MARKS: VisitorMarks = { device: MARK, network: MARK };
/** Four bytes a character, as many characters as a name may have by default. */
const NAME = '\u{1F600}'.repeat(LIMITS['name.chars'].value);

const bytes = (message: BusMessage): number => Buffer.byteLength(JSON.stringify(message));

describe('the largest messages between pods', () => {
  const policyWith = (bans: number, muted = LIMITS['room.muted'].max): BusMessage => ({
    type: 'policy',
    room: ROOM,
    pod: POD,
    policy: {
      revision: Number.MAX_SAFE_INTEGER,
      incarnation: 'i'.repeat(64),
      view: { room: ROOM, kind: 'named', homeRegion: 'e'.repeat(16), cap: 2000, locked: true },
      bans: Array.from({ length: bans }, () => ({ id: 'b'.repeat(36), ...MARKS })),
      kicked: Array.from({ length: LIMITS['room.kicked'].max }, () => 'p0123456789abcdef'),
      knocking: Array.from({ length: LIMITS['room.kicked'].max }, () => MARKS.network),
      mutes: { all: true, participants: Array.from({ length: muted }, () => 'p0123456789abcdef') },
    },
  });

  it('[MOD-9] a policy holds as many bans as an operator may allow, and no more', () => {
    const { max } = LIMITS['room.bans'];
    assert.equal(decodeBusMessage(JSON.stringify(policyWith(max))).ok, true);
    assert.equal(decodeBusMessage(JSON.stringify(policyWith(max + 1))).ok, false);
  });

  it('[MOD-14] a policy holds as many mutes as an operator may allow, and no more', () => {
    const { max } = LIMITS['room.muted'];
    assert.equal(decodeBusMessage(JSON.stringify(policyWith(1, max))).ok, true);
    assert.equal(decodeBusMessage(JSON.stringify(policyWith(1, max + 1))).ok, false);
  });

  it('[MOD-9] a policy with all its bans is a fifth of the largest message of NATS', () => {
    assert.ok(bytes(policyWith(LIMITS['room.bans'].max)) < NATS_BYTES / 5);
  });

  it('[ROS-6] a hello with all participants of the largest room fits', () => {
    const entry: Entry = {
      participant: 'p0123456789abcdef',
      generation: 2 ** 31,
      name: NAME,
      media: { audio: false, video: false, screen: false },
      awayMs: LIMITS['resume.grace'].max,
      owner: true,
      visitor: MARKS,
    };
    const section: Section = {
      pod: POD,
      boot: Number.MAX_SAFE_INTEGER,
      epoch: Number.MAX_SAFE_INTEGER,
      seq: Number.MAX_SAFE_INTEGER,
      dead: false,
      entries: Array.from({ length: LIMITS['room.participants'].max }, () => entry),
      tombstones: [],
    };
    assert.ok(bytes({ type: 'hello', room: ROOM, pod: POD, section }) < NATS_BYTES);
  });
});

describe('the largest tokens', () => {
  const token = (claims: TicketClaims | ResumeClaims): string => {
    const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    return `${part({ alg: 'EdDSA', kid: 'k'.repeat(64) })}.${part(claims)}.${'s'.repeat(SIGNATURE_CHARS)}`;
  };
  const about = {
    iss: ISSUER,
    sub: 'p0123456789abcdef',
    room: ROOM,
    owner: true,
    visitor: MARKS,
    exp: 2 ** 40,
  } as const;
  const first = {
    generation: 2 ** 31,
    name: 'Ada',
    media: { audio: true, video: true, screen: true },
  };

  it('[MOD-8] enter accepts a ticket with all claims', () => {
    const ticket = token({ ...about, aud: TICKET_AUDIENCE });
    assert.equal(decodeClientMessage(JSON.stringify({ type: 'enter', ticket, ...first })).ok, true);
  });

  it('[MOD-8] resume accepts a token with all claims', () => {
    const claims = {
      ...about,
      aud: RESUME_AUDIENCE,
      generation: 2 ** 31,
      since: 2 ** 42,
      iat: 2 ** 40,
    } as const;
    const message = { type: 'resume', token: token(claims), chat: [], ...first };
    assert.equal(decodeClientMessage(JSON.stringify(message)).ok, true);
  });
});
