/** Messages of a participant that are malformed, too many, too large, or for an unknown recipient. */
import { CODES } from '@parley/protocol/codes';
import { socketPath } from '@parley/protocol/http';
import {
  CONTINUATION,
  PING,
  TEXT,
  frame,
  type Frame,
} from '../../../../services/signaling/test/support/raw.ts';
import { each, expectOneOf, type Attack } from '../attack.ts';
import { Bytes } from '../bytes.ts';
import { Participant } from '../participant.ts';

interface Malformed {
  readonly title: string;
  readonly code: 'BAD_FRAME' | 'BAD_ENCODING' | 'MESSAGE_TOO_LARGE';
  readonly bytes: Buffer;
}

const bad = (title: string, about: Frame): Malformed => ({ title, code: 'BAD_FRAME', bytes: frame(about) });

const FRAMES: readonly Malformed[] = [
  bad('unmasked', { opcode: TEXT, payload: '{}', masked: false }),
  ...[1, 2, 4].map((reserved) => bad(`reserved bit ${reserved}`, { opcode: TEXT, payload: '{}', reserved })),
  ...[3, 7, 11, 15].map((opcode) => bad(`reserved opcode ${opcode}`, { opcode, payload: '{}' })),
  bad('a continuation of nothing', { opcode: CONTINUATION, payload: '{}' }),
  bad('a ping in fragments', { opcode: PING, fin: false }),
  bad('a ping of 126 bytes', { opcode: PING, payload: 'x'.repeat(126) }),
  bad('a close of one byte', { opcode: 8, payload: 'x' }),
  bad('a close with a code that may not be sent', { opcode: 8, payload: Uint8Array.from([0x03, 0xed]) }),
  {
    title: 'text that is not UTF-8',
    code: 'BAD_ENCODING',
    bytes: frame({ opcode: TEXT, payload: Uint8Array.from([0xc3, 0x28]) }),
  },
  {
    title: 'a close reason that is not UTF-8',
    code: 'BAD_ENCODING',
    bytes: frame({ opcode: 8, payload: Uint8Array.from([0x03, 0xe8, 0xc3, 0x28]) }),
  },
  {
    title: 'a message that announces 2^62 bytes',
    code: 'MESSAGE_TOO_LARGE',
    bytes: Buffer.from([0x81, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]),
  },
  {
    title: 'a message of 200,000 bytes',
    code: 'MESSAGE_TOO_LARGE',
    bytes: frame({ opcode: TEXT, payload: 'x'.repeat(200_000) }),
  },
];

const ENVELOPES = [
  '>',
  '>nobody',
  '>p0123456789abcdef',
  '>p0123456789abcdef \nx',
  '>p0123456789abcdef m1',
  '>P0123456789ABCDEF m1\nx',
  '>p0123456789abcdeu m1\nx',
  '>p0123456789abcdef m 1\nx',
  `>p0123456789abcdef ${'m'.repeat(25)}\nx`,
  '>p0123456789abcdef m\u0000\nx',
  '>../../0123456789a m1\nx',
];

const JUNK = [
  'hello',
  '[]',
  'null',
  '{"type":"chat"',
  '{"type":{"$ne":null}}',
  '{"type":"__proto__"}',
  '{"type":"constructor"}',
  '{"__proto__":{"type":"chat"}}',
  `${'['.repeat(5000)}${']'.repeat(5000)}`,
];

/** Before unanswered pings of the pod would end it. */
const FLOOD_ENDS_WITHIN_MS = 3500;
/** RFC 6455, 7.1.5: no close frame came. */
const LOST = 1006;

export const MESSAGE_ATTACKS: readonly Attack[] = [
  {
    name: 'malformed-frames',
    rules: ['ERR-3', 'LIM-2'],
    run: (arena) =>
      each(
        FRAMES,
        ({ title }) => title,
        async ({ code, bytes }) => {
          const socket = await Bytes.webSocket(arena.edge, socketPath(arena.room()), arena.address());
          try {
            socket.write(bytes);
            expectOneOf(await socket.closeCode(), [CODES[code].close]);
          } finally {
            socket.destroy();
          }
        },
      ),
  },
  {
    name: 'malformed-envelopes',
    rules: ['DIR-6'],
    async run(arena) {
      const mallory = await Participant.enter(arena.edge, arena.room(), { from: arena.address() });
      // One fewer than ends the socket; then the rest on a second one.
      const refused = await refusals(mallory, ENVELOPES.slice(0, 9), 'BAD_MESSAGE');
      const other = await Participant.enter(arena.edge, arena.room(), { from: arena.address() });
      return `${refused + (await refusals(other, ENVELOPES.slice(9), 'BAD_MESSAGE'))} refused`;
    },
  },
  {
    name: 'malformed-json',
    rules: ['GEN-1', 'LIM-5'],
    async run(arena) {
      const mallory = await Participant.enter(arena.edge, arena.room(), { from: arena.address() });
      const refused = await refusals(mallory, JUNK, 'BAD_MESSAGE', 'UNKNOWN_TYPE', 'MESSAGE_TOO_LARGE');
      return `${refused} refused`;
    },
  },
  {
    name: 'bad-messages-end-the-socket',
    rules: ['LIM-5'],
    async run(arena) {
      const mallory = await Participant.enter(arena.edge, arena.room(), { from: arena.address() });
      for (let sent = 0; sent < 20; sent += 1) mallory.sendText('{"type":"dance"}');
      expectOneOf(await mallory.refusedWith(), ['UNKNOWN_TYPE']);
      return 'UNKNOWN_TYPE';
    },
  },
  {
    name: 'directed-to-strangers',
    rules: ['DIR-5'],
    async run(arena) {
      const ada = await Participant.enter(arena.edge, arena.room(), { from: arena.address(), name: 'Ada' });
      const received: string[] = [];
      ada.onDirected = (_from, payload) => received.push(payload);
      const mallory = await Participant.enter(arena.edge, arena.room(), { from: arena.address() });
      mallory.sendDirected(ada.id, 'm1', 'from another room');
      mallory.sendDirected('p0123456789abcdef', 'm2', 'to a guessed participant');
      for (const id of ['m1', 'm2']) {
        const { reason } = await mallory.waitFor('undelivered', { match: (one) => one.id === id });
        expectOneOf(reason, ['unknown', 'timeout']);
      }
      if (received.length > 0) throw new Error('a participant of another room got the message');
      for (const one of [ada, mallory]) one.drop();
      return 'undelivered';
    },
  },
  {
    name: 'hidden-and-oversized-names',
    rules: ['JOIN-13'],
    run: (arena) =>
      each(
        [
          '',
          ' \u00a0 ',
          'x'.repeat(65),
          'a\u202eb',
          'a\u2066b',
          'a\u0000b',
          'a\u200bb',
          '\u2800',
          'a\u001bb',
          '\ud800',
        ],
        (name) => JSON.stringify(name),
        async (name) => {
          const socket = new Participant(arena.edge, arena.room(), { from: arena.address() });
          await socket.join();
          // The ticket is good: a name of the join is refused already there.
          const second = new Participant(arena.edge, socket.room, { from: arena.address() });
          await second.connect();
          second.sendEnter(socket.joined?.ticket ?? '', name);
          expectOneOf(await second.refusedWith(), ['NAME_INVALID', 'BAD_MESSAGE', 'ENTER_REQUIRED']);
          for (const one of [socket, second]) one.drop();
        },
      ),
  },
  {
    name: 'floods-within-a-socket',
    rules: ['LIM-3', 'CHAT-3'],
    async run(arena) {
      const messages = await Participant.enter(arena.edge, arena.room(), { from: arena.address() });
      for (let sent = 0; sent < 1000; sent += 1) messages.send({ type: 'ping' });
      await ended(messages);
      const bytes = await Participant.enter(arena.edge, arena.room(), { from: arena.address() });
      for (let sent = 0; sent < 40; sent += 1)
        bytes.sendDirected('p0123456789abcdef', `m${sent}`, 'x'.repeat(60_000));
      await ended(bytes);
      const chat = await Participant.enter(arena.edge, arena.room(), { from: arena.address() });
      for (let sent = 0; sent < 50; sent += 1)
        chat.send({ type: 'chat', id: `flood-${String(sent).padStart(4, '0')}`, text: 'x' });
      await chat.waitFor('error', { match: ({ code }) => code === 'TOO_MANY_CHAT_LINES' });
      chat.drop();
      const pings = await Participant.enter(arena.edge, arena.room(), { from: arena.address() });
      for (let sent = 0; sent < 1000; sent += 1) pings.ping();
      await ended(pings);
      return 'RATE_LIMITED, TOO_MANY_CHAT_LINES';
    },
  },
];

/**
 * The pod ends the socket of a flood at once. The code is that of the rate, or lost: a connection that still sends is reset on its
 * way through the edge.
 */
async function ended(flood: Participant): Promise<void> {
  const code = await flood.refusedWith(FLOOD_ENDS_WITHIN_MS);
  expectOneOf(code, ['RATE_LIMITED', undefined]);
  expectOneOf(flood.closed, [CODES.RATE_LIMITED.close, LOST]);
}

/** Sends each and waits until as many errors have come; all have to be of these codes, and none may end the socket. */
async function refusals(mallory: Participant, texts: readonly string[], ...codes: string[]): Promise<number> {
  const errors = (): string[] => mallory.log.flatMap((one) => (one.type === 'error' ? [one.code] : []));
  for (const text of texts) mallory.sendText(text);
  await mallory.changes.until(`${texts.length} errors`, () => errors().length >= texts.length, 10_000);
  for (const code of errors()) expectOneOf(code, codes);
  if (mallory.closed !== undefined) throw new Error(`closed with ${mallory.closed}`);
  mallory.drop();
  return texts.length;
}
