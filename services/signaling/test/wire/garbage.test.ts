/** Bytes that no well-behaved client sends: each gets its close code, and the other participants are not affected. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CODES, type Code } from '@parley/protocol/codes';
import type { LimitName } from '@parley/protocol/limits';
import type { RunningPod } from '../../src/server/start.ts';
import { withBystanders, type News } from '../support/bystanders.ts';
import { NO_MEDIA, ticketFor } from '../support/client.ts';
import { startNats, type TestNats } from '../support/nats.ts';
import { startTestPod } from '../support/pod.ts';
import { CONTINUATION, PING, RawClient, TEXT, frame } from '../support/raw.ts';

const LIMITS = {
  'socket.messages': 20,
  'socket.messageBurst': 60,
  'socket.byteBurst': 300_000,
  'socket.pingInterval': 400,
  'message.fragments': 40,
  // Less than two silences take.
  'message.timeout': 600,
} as const;

/** Of a pod of its own: on the other one a test may be slow to enter. */
const HASTY = { ...LIMITS, 'socket.enterTimeout': 600, 'message.timeout': 5000 } as const;

let nats: TestNats;
let pod: RunningPod;
let hasty: RunningPod;
before(async () => {
  nats = await startNats();
  pod = await startTestPod({ nats: nats.url, limits: LIMITS });
  hasty = await startTestPod({ nats: nats.url, name: 'hasty', limits: HASTY });
});
after(async () => {
  await pod.close();
  await hasty.close();
  await nats.close();
});

interface Garbage {
  readonly title: string;
  readonly code: Code;
  /** The limit that this is over. */
  readonly limit?: LimitName;
  /** Already in the room when it begins: the others see it come and go. */
  readonly inside?: boolean;
  /** The code stands in an error message before the close. */
  readonly hasError?: boolean;
  readonly send: (raw: RawClient) => void;
}

const text = (payload: string): Buffer => frame({ opcode: TEXT, payload });
const times = (count: number, bytes: Buffer): Buffer => Buffer.concat(Array<Buffer>(count).fill(bytes));
const COME_AND_GO: News = ['joined', 'away', 'left'];

const CASES: readonly Garbage[] = [
  {
    title: '[ERR-3] an unmasked frame',
    code: 'BAD_FRAME',
    send: (raw) => raw.write(frame({ opcode: TEXT, payload: '{}', masked: false })),
  },
  ...[4, 2, 1].map((reserved): Garbage => ({
    title: `[ERR-3] reserved bit ${reserved}`,
    code: 'BAD_FRAME',
    send: (raw) => raw.write(frame({ opcode: TEXT, payload: '{}', reserved })),
  })),
  ...[3, 7, 11, 15].map((opcode): Garbage => ({
    title: `[ERR-3] reserved opcode ${opcode}`,
    code: 'BAD_FRAME',
    send: (raw) => raw.write(frame({ opcode, payload: '{}' })),
  })),
  {
    title: '[ERR-3] a continuation of nothing',
    code: 'BAD_FRAME',
    send: (raw) => raw.write(frame({ opcode: CONTINUATION, payload: '{}' })),
  },
  {
    title: '[ERR-3] a control frame in pieces',
    code: 'BAD_FRAME',
    send: (raw) => raw.write(frame({ opcode: PING, fin: false })),
  },
  {
    title: '[ERR-3] a control frame that is too long',
    code: 'BAD_FRAME',
    inside: true,
    send: (raw) => raw.write(frame({ opcode: PING, payload: 'x'.repeat(126) })),
  },
  {
    title: '[ERR-3] a text that is not UTF-8',
    code: 'BAD_ENCODING',
    send: (raw) => raw.write(frame({ opcode: TEXT, payload: Uint8Array.from([0xc3, 0x28]) })),
  },
  {
    title: '[ERR-3] a directed message that is not UTF-8',
    code: 'BAD_ENCODING',
    inside: true,
    send: (raw) =>
      raw.write(
        frame({ opcode: TEXT, payload: Buffer.concat([Buffer.from('>p0 m\n'), Buffer.from([0xff, 0xfe])]) }),
      ),
  },
  {
    title: '[LIM-2] a message of 10 MB',
    code: 'MESSAGE_TOO_LARGE',
    limit: 'message.bytes',
    inside: true,
    send: (raw) => raw.write(text('x'.repeat(10_000_000))),
  },
  {
    title: '[LIM-2] a JSON message of 1 MB',
    code: 'MESSAGE_TOO_LARGE',
    limit: 'message.bytes',
    send: (raw) =>
      raw.write(text(JSON.stringify({ type: 'chat', id: 'abcdefgh', text: 'x'.repeat(1_000_000) }))),
  },
  {
    title: '[LIM-2] a message that announces 2^62 bytes',
    code: 'MESSAGE_TOO_LARGE',
    limit: 'message.bytes',
    send: (raw) => raw.write(Buffer.from([0x81, 0xff, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4])),
  },
  {
    title: '[LIM-2] a message in ever more pieces',
    code: 'MESSAGE_TOO_LARGE',
    limit: 'message.bytes',
    send: (raw) => {
      raw.write(frame({ opcode: TEXT, payload: 'x', fin: false }));
      raw.write(times(35, frame({ opcode: CONTINUATION, payload: 'x'.repeat(2000), fin: false })));
    },
  },
  {
    title: '[LIM-8] a message in too many fragments',
    code: 'TOO_MANY_FRAGMENTS',
    limit: 'message.fragments',
    inside: true,
    send: (raw) => {
      raw.write(frame({ opcode: TEXT, payload: 'x', fin: false }));
      raw.write(times(40, frame({ opcode: CONTINUATION, payload: 'x', fin: false })));
    },
  },
  {
    title: '[LIM-8] messages in fragments, each counted as a message',
    code: 'RATE_LIMITED',
    limit: 'socket.messageBurst',
    inside: true,
    hasError: true,
    send: (raw) => {
      const begun = frame({ opcode: TEXT, payload: '{"type":', fin: false });
      const empty = times(10, frame({ opcode: CONTINUATION, fin: false }));
      raw.write(times(6, Buffer.concat([begun, empty, frame({ opcode: CONTINUATION, payload: '"ping"}' })])));
    },
  },
  {
    title: '[LIM-9] a message that is never complete, with pings in between',
    code: 'MESSAGE_TIMEOUT',
    limit: 'message.timeout',
    inside: true,
    hasError: true,
    send: (raw) => {
      raw.write(frame({ opcode: TEXT, payload: '{', fin: false }));
      const timer = setInterval(() => raw.write(frame({ opcode: PING, payload: 'x' })), 100);
      raw.stream.on('close', () => clearInterval(timer));
    },
  },
  {
    title: '[LIM-9] a frame that is never complete',
    code: 'MESSAGE_TIMEOUT',
    limit: 'message.timeout',
    inside: true,
    hasError: true,
    send: (raw) => {
      raw.write(text('{"type":"ping"}').subarray(0, 9));
    },
  },
  {
    title: '[LIM-2] a control message that is too large',
    code: 'MESSAGE_TOO_LARGE',
    limit: 'control.bytes',
    inside: true,
    hasError: true,
    send: (raw) => raw.sendMessage({ type: 'chat', id: 'abcdefgh', text: 'x'.repeat(20_000) }),
  },
  {
    title: '[JOIN-6] nothing at all',
    code: 'ENTER_TIMEOUT',
    limit: 'socket.enterTimeout',
    hasError: true,
    send: () => {},
  },
  {
    title: '[JOIN-6] a frame that is cut short',
    code: 'ENTER_TIMEOUT',
    limit: 'socket.enterTimeout',
    hasError: true,
    send: (raw) => raw.write(text('{"type":"ping"}').subarray(0, 9)),
  },
  {
    title: '[JOIN-6] a message that never ends, in empty pieces',
    code: 'ENTER_TIMEOUT',
    limit: 'socket.enterTimeout',
    hasError: true,
    send: (raw) => {
      raw.write(frame({ opcode: TEXT, fin: false }));
      raw.write(times(30, frame({ opcode: CONTINUATION, fin: false })));
    },
  },
  {
    title: '[JOIN-6] pings, and nothing else',
    code: 'ENTER_TIMEOUT',
    limit: 'socket.enterTimeout',
    hasError: true,
    send: (raw) => raw.sendMessage({ type: 'ping' }),
  },
  {
    title: '[GEN-1] a text that is not JSON',
    code: 'BAD_MESSAGE',
    hasError: true,
    send: (raw) => raw.write(text('hello')),
  },
  {
    title: '[GEN-1] a message of an unknown type',
    code: 'UNKNOWN_TYPE',
    hasError: true,
    send: (raw) => raw.sendMessage({ type: 'dance' }),
  },
  {
    title: '[GEN-1] a binary message that is not directed',
    code: 'BAD_MESSAGE',
    hasError: true,
    send: (raw) => raw.write(frame({ opcode: 2, payload: 'hello' })),
  },
  {
    title: '[LIM-5] too many messages of unknown types',
    code: 'UNKNOWN_TYPE',
    limit: 'socket.badMessages',
    inside: true,
    hasError: true,
    send: (raw) => raw.write(times(11, text('{"type":"dance"}'))),
  },
  {
    title: '[DIR-6] [LIM-5] too many malformed envelopes',
    code: 'BAD_MESSAGE',
    limit: 'socket.badMessages',
    inside: true,
    hasError: true,
    send: (raw) => raw.write(times(11, text('>nobody'))),
  },
  {
    title: '[JOIN-6] a directed message before enter',
    code: 'ENTER_REQUIRED',
    hasError: true,
    send: (raw) => raw.write(text('>p0000000000000000 m1\nhello')),
  },
  {
    title: '[JOIN-6] chat before enter',
    code: 'ENTER_REQUIRED',
    hasError: true,
    send: (raw) => raw.sendMessage({ type: 'chat', id: 'abcdefgh', text: 'hello' }),
  },
  {
    title: '[LIM-3] a flood of messages',
    code: 'RATE_LIMITED',
    limit: 'socket.messageBurst',
    inside: true,
    hasError: true,
    send: (raw) => raw.write(times(200, text('{"type":"ping"}'))),
  },
  {
    title: '[LIM-3] a steady stream of messages over the rate',
    code: 'RATE_LIMITED',
    limit: 'socket.messages',
    inside: true,
    hasError: true,
    send: (raw) => {
      // 100 a second, never many at once.
      const timer = setInterval(() => raw.write(text('{"type":"ping"}')), 10);
      raw.stream.on('close', () => clearInterval(timer));
    },
  },
  {
    title: '[LIM-3] a flood of bytes',
    code: 'RATE_LIMITED',
    limit: 'socket.byteBurst',
    inside: true,
    hasError: true,
    send: (raw) => raw.write(times(10, text(`>p0000000000000000 m1\n${'x'.repeat(60_000)}`))),
  },
  {
    title: '[LIM-3] a stream of bytes over the rate',
    code: 'RATE_LIMITED',
    limit: 'socket.bytes',
    inside: true,
    hasError: true,
    send: (raw) => {
      const timer = setInterval(() => raw.write(text(`>p0000000000000000 m1\n${'x'.repeat(60_000)}`)), 60);
      raw.stream.on('close', () => clearInterval(timer));
    },
  },
  {
    title: '[LIM-3] a flood of WebSocket pings, which are answered without being asked',
    code: 'RATE_LIMITED',
    limit: 'socket.messageBurst',
    inside: true,
    hasError: true,
    send: (raw) => raw.write(times(200, frame({ opcode: PING, payload: 'x' }))),
  },
];

describe('garbage', { concurrency: 6 }, () => {
  for (const { title, code, inside = false, hasError = false, send } of CASES) {
    test(`${title}: ${code}`, async () => {
      const { url } = code === 'ENTER_TIMEOUT' ? hasty : pod;
      await withBystanders(
        url,
        async (room) => {
          const raw = await RawClient.open(url, room);
          if (inside) await enter(raw, room);
          send(raw);
          assert.equal(await raw.closeCode(), CODES[code].close);
          if (hasError) assert.match(raw.text, new RegExp(`"code":"${code}".*"fatal":true`));
          // It never answers the close frame, and is closed nevertheless.
          await raw.ended();
          raw.destroy();
        },
        inside ? COME_AND_GO : [],
      );
    });
  }

  test('[LIM-6] a participant that falls silent is away after two pings', async () => {
    await withBystanders(
      pod.url,
      async (room, ada) => {
        const raw = await RawClient.open(pod.url, room);
        await enter(raw, room);
        await ada.waitFor('away');
        raw.destroy();
      },
      COME_AND_GO,
    );
  });

  test('[JOIN-11] enter a second time is refused and nothing else happens', async () => {
    await withBystanders(
      pod.url,
      async (room) => {
        const raw = await RawClient.open(pod.url, room);
        await enter(raw, room);
        const { ticket } = await ticketFor(pod.url, room);
        raw.sendMessage({ type: 'enter', ticket, generation: 1, name: 'Eve', media: NO_MEDIA });
        await raw.until('the refusal', () => raw.text.includes('"code":"ALREADY_ENTERED"'));
        assert.match(raw.text, /"fatal":false/);
        raw.sendMessage({ type: 'ping' });
        await raw.until('the pong', () => raw.text.includes('"pong"'));
        raw.destroy();
      },
      COME_AND_GO,
    );
  });

  test('[LIM-5] [GEN-3] a message that is not understood leaves the socket open: a ping is answered', async () => {
    await withBystanders(
      pod.url,
      async (room) => {
        const raw = await RawClient.open(pod.url, room);
        await enter(raw, room);
        raw.write(text('{"type":"change","media":7}'));
        await raw.until('the error', () => raw.text.includes('"code":"BAD_MESSAGE"'));
        raw.sendMessage({ type: 'ping' });
        await raw.until('the pong', () => raw.text.includes('"pong"'));
        raw.destroy();
      },
      COME_AND_GO,
    );
  });

  test('[JOIN-5] an upgrade that arrives slowly, or a connection that sends nothing, is closed', async () => {
    await withBystanders(pod.url, async (room) => {
      const silent = new RawClient(pod.url);
      const slow = new RawClient(pod.url);
      slow.write(`GET /v1/rooms/${room}/socket HTTP/1.1\r\nHost: pod\r\n`);
      const timer = setInterval(() => slow.write('X-More: x\r\n'), 500);
      await Promise.all([silent.ended(9000), slow.ended(9000)]);
      clearInterval(timer);
      silent.destroy();
      slow.destroy();
    });
  });
});

async function enter(raw: RawClient, room: string): Promise<void> {
  const { ticket } = await ticketFor(pod.url, room);
  raw.sendMessage({ type: 'enter', ticket, generation: 1, name: 'Mallory', media: NO_MEDIA });
  await raw.until('the welcome', () => raw.text.includes('"welcome"'));
}
