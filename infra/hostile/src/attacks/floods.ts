/** What anonymous strangers can make the platform hold: fragments, silent connections, joins, resumes, reads. */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { CODES, type Code } from '@parley/protocol/codes';
import { PAGES_SOCKET } from '@parley/protocol/pages';
import { CONTINUATION, TEXT, frame } from '../../../../services/signaling/test/support/raw.ts';
import { ask } from '../ask.ts';
import { expectOneOf, type Attack } from '../attack.ts';
import { NETWORK_REQUESTS, type Arena } from '../arena.ts';
import { Bytes } from '../bytes.ts';
import { NamedRoom } from '../named-room.ts';
import { Participant } from '../participant.ts';

const FRAGMENTS = 16_000;
const PONG = 10;
/** RFC 6455, 7.4.1. */
const POLICY_VIOLATION = 1008;
const FRAGMENTS_WITHIN_MS = 3500;
const JOIN_WITHIN_MS = 1000;
/** Silence without a request, or half a head: longer than the edge may wait for either. */
const SILENCE_MS = 20_000;

/** A newcomer of a network that had no part in it. */
async function newcomerJoins(arena: Arena): Promise<number> {
  const began = performance.now();
  const newcomer = await Participant.enter(arena.edge, arena.room(), {
    from: arena.address(),
    name: 'Newcomer',
  });
  const took = Math.round(performance.now() - began);
  newcomer.leave();
  if (took > JOIN_WITHIN_MS) throw new Error(`a newcomer joined after ${took} ms`);
  return took;
}

export const FLOOD_ATTACKS: readonly Attack[] = [
  {
    name: 'fragments',
    rules: ['LIM-2', 'LIM-3'],
    alone: true,
    async run(arena) {
      const first = frame({ opcode: TEXT, payload: 'x', fin: false });
      const more = frame({ opcode: CONTINUATION, payload: 'x', fin: false });
      const bytes = Buffer.concat([first, ...Array<Buffer>(FRAGMENTS).fill(more)]);
      const from = arena.address();
      const sockets: Bytes[] = [];
      const count = arena.isLong ? 100 : 30;
      while (sockets.length < count) sockets.push(await Bytes.webSocket(arena.edge, PAGES_SOCKET, from));
      for (const socket of sockets) socket.write(bytes);
      // Before the pod would detect that its pings get no answer.
      await Promise.all(sockets.map((socket) => socket.ended(FRAGMENTS_WITHIN_MS)));
      // Where the edge resets a connection that still sends, the close frame may be lost.
      const codes = (await Promise.all(sockets.map((socket) => socket.closeCode()))).filter(
        (code) => code !== undefined,
      );
      for (const socket of sockets) socket.destroy();
      for (const code of codes)
        expectOneOf(code, [
          POLICY_VIOLATION,
          ...closes('RATE_LIMITED'),
          ...closes('REASSEMBLY_LIMIT_EXCEEDED'),
        ]);
      return `${count} sockets closed with ${[...new Set(codes)].join(' and ')}, a newcomer after ${await newcomerJoins(arena)} ms`;
    },
  },
  {
    name: 'unfinished-messages',
    rules: ['LIM-3'],
    async run(arena) {
      const socket = await Bytes.webSocket(arena.edge, PAGES_SOCKET, arena.address());
      socket.write(frame({ opcode: TEXT, payload: 'x', fin: false }));
      // It answers pings, so that only the message itself ends the socket.
      const pongs = setInterval(() => socket.write(frame({ opcode: PONG })), 500);
      const code = await socket.closeCode(30_000).finally(() => clearInterval(pongs));
      socket.destroy();
      if (code === undefined) throw new Error('ended without a code');
      return `closed with ${code}`;
    },
  },
  {
    name: 'silent-connections',
    rules: ['LIM-7'],
    alone: true,
    async run(arena) {
      const from = arena.address();
      const { hostname, port } = new URL(arena.edge);
      const count = arena.isLong ? 3000 : 600;
      const open = new Set<Socket>();
      const emptied = new Promise<void>((resolve) => {
        for (let opened = 0; opened < count; opened += 1) {
          const socket = connect({ host: hostname, port: Number(port), localAddress: from });
          open.add(socket);
          socket.on('error', () => {});
          socket.on('close', () => {
            open.delete(socket);
            if (open.size === 0) resolve();
          });
        }
      });
      try {
        const took = await newcomerJoins(arena);
        const began = performance.now();
        const late = new Promise<void>((_, reject) => {
          const timer = setTimeout(
            () => reject(new Error(`${open.size} of ${count} stay after ${SILENCE_MS} ms`)),
            SILENCE_MS,
          );
          void emptied.then(() => clearTimeout(timer));
        });
        await Promise.race([emptied, late]);
        return `${count} closed after ${Math.round((performance.now() - began) / 1000)} s, a newcomer after ${took} ms`;
      } finally {
        for (const socket of open) socket.destroy();
      }
    },
  },
  {
    name: 'junk-rooms',
    rules: ['LIM-7', 'ROOM-1'],
    alone: true,
    async run(arena) {
      const networks = Array.from({ length: 60 }, () => arena.address());
      const junk = async (from: string): Promise<Set<string | undefined>> => {
        const codes = new Set<string | undefined>();
        for (let asked = 0; asked < (arena.isLong ? 120 : 45); asked += 1)
          codes.add((await ask(arena.edge, '/v1/rooms/IMPOSSIBLE/join', { from, json: {} })).code);
        return codes;
      };
      const codes = new Set((await Promise.all(networks.map(junk))).flatMap((some) => [...some]));
      for (const code of codes)
        expectOneOf(code, ['ROOM_INVALID', 'NOT_FOUND', 'TOO_MANY_JOINS', 'TOO_MANY_REQUESTS']);
      return `${[...codes].join(', ')}, a newcomer after ${await newcomerJoins(arena)} ms`;
    },
  },
  {
    name: 'joins-of-one-network',
    rules: ['LIM-7'],
    async run(arena) {
      const from = arena.address();
      const room = arena.room();
      const codes = await Promise.all(
        Array.from({ length: 300 }, () => ask(arena.edge, `/v1/rooms/${room}/join`, { from, json: {} })),
      );
      const refused = codes.filter(({ code }) => code === 'TOO_MANY_JOINS');
      if (refused.length < 100) throw new Error(`${refused.length} of 300 were refused`);
      if (refused.some(({ headers }) => headers['retry-after'] === undefined))
        throw new Error('without Retry-After');
      return `TOO_MANY_JOINS for ${refused.length} of 300`;
    },
  },
  {
    name: 'resumes-of-one-network',
    rules: ['RES-6', 'LIM-7'],
    async run(arena) {
      const from = arena.address();
      const room = arena.room();
      let tried = 0;
      const refused = new Set<string>();
      const attempt = async (): Promise<void> => {
        while (tried < 2 * NETWORK_REQUESTS && refused.size === 0) {
          tried += 1;
          const mallory = new Participant(arena.edge, room, { from });
          const code = await mallory.connect().then(
            () => {
              mallory.sendResume('no token');
              return mallory.refusedWith();
            },
            // The edge counts sockets of a network too.
            (error: Error) => (error.message.includes('429') ? 'TOO_MANY_REQUESTS' : error.message),
          );
          if (code !== 'RESUME_INVALID') refused.add(code ?? `${mallory.closed}`);
        }
      };
      await Promise.all(Array.from({ length: 10 }, attempt));
      expectOneOf([...refused].join(' '), ['TOO_MANY_REQUESTS']);
      return `TOO_MANY_REQUESTS after ${tried}, a newcomer after ${await newcomerJoins(arena)} ms`;
    },
  },
  {
    name: 'reads-of-one-network',
    rules: ['ROOM-7', 'LIM-7'],
    async run(arena) {
      const room = await NamedRoom.create(arena);
      const from = arena.address();
      for (let read = 0; read < 2 * NETWORK_REQUESTS; read += 20) {
        const answers = await Promise.all(
          Array.from({ length: 20 }, () => ask(arena.edge, `/v1/rooms/${room.room}`, { from })),
        );
        const refused = answers.find(({ status }) => status === 429);
        if (refused === undefined) continue;
        expectOneOf(refused.code, ['TOO_MANY_REQUESTS']);
        return `TOO_MANY_REQUESTS after ${read} to ${read + 20}`;
      }
      throw new Error(`${2 * NETWORK_REQUESTS} reads without a refusal`);
    },
  },
  {
    name: 'room-ids-in-logs',
    rules: ['JOIN-5'],
    alone: true,
    run: (arena) => {
      const wrong: string[] = [];
      for (const [name, { log }] of Object.entries(arena.stack.endpoints.processes)) {
        const text = readFileSync(log, 'utf8');
        const found = arena.rooms.filter((room) => text.includes(room));
        if (found.length > 0) wrong.push(`${name} has ${found.length}`);
      }
      if (wrong.length > 0)
        return Promise.reject(new Error(`of ${arena.rooms.length} rooms ${wrong.join(', ')}`));
      return Promise.resolve(`none of ${arena.rooms.length}`);
    },
  },
];

const closes = (...codes: readonly Code[]): (number | null)[] => codes.map((code) => CODES[code].close);
