/** A fake service that a test controls: it answers requests from lists, and the test is the other end of its sockets. */
import { setImmediate } from 'node:timers/promises';
import type { JoinAnswer } from '@parley/protocol/http';
import type { ServerMessage } from '@parley/protocol/server-messages';
import type { Call, CallOptions } from '../../src/call.ts';
import { joinCall } from '../../src/join-call.ts';
import type { Network, Ports, WireHandlers } from '../../src/ports.ts';
import { ME, ROOM, welcome } from './messages.ts';
import { fakePorts, type FakePorts } from './ports.ts';

export interface FakeSocket {
  readonly url: string;
  readonly sent: Record<string, unknown>[];
  readonly directed: (string | Uint8Array)[];
  closed: number | null;
  open(): void;
  sendMessage(message: ServerMessage): void;
  text(text: string): void;
  drop(code: number): void;
}

export interface FakeRequest {
  readonly at: number;
  /** Method and path. */
  readonly what: string;
  readonly body: string;
  readonly authorization: string | undefined;
  readonly traceparent: string | undefined;
}
/** The answers in order; the last one is repeated. */
type Answers = (() => Response | Error)[];

export interface FakeService {
  readonly ports: FakePorts;
  readonly joins: FakeRequest[];
  answers: Answers;
  /** The requests of the owner. */
  readonly commands: FakeRequest[];
  commandAnswers: Answers;
  readonly sockets: FakeSocket[];
  readonly socket: FakeSocket;
  readonly network: { online: boolean; listeners: Set<() => void> };
  memory: string | null;
  join(change?: Partial<CallOptions>): Call;
  /** Joins, opens the socket and sends a welcome. */
  enter(change?: Partial<CallOptions>): Promise<Call>;
  /** Joins, opens the socket and lets the newcomer wait in the lobby. */
  enterLobby(change?: Partial<CallOptions>): Promise<Call>;
  settle(): Promise<void>;
}

export const joinAnswer: JoinAnswer = {
  participant: ME,
  ticket: 'ticket',
  ticketTtlMs: 30_000,
  socketUrl: 'ws://pod/socket',
  room: { room: ROOM, kind: 'ad-hoc', homeRegion: null, cap: 100, locked: false },
};
export const admitted = (): Response => Response.json(joinAnswer);
export const refusal =
  (status: number, code: string, headers: Record<string, string> = {}) =>
  (): Response =>
    Response.json({ code, message: code }, { status, headers });

export function fakeService(change: Partial<Ports> = {}): FakeService {
  const sockets: FakeSocket[] = [];
  const network = { online: true, listeners: new Set<() => void>() };
  const networkPort: Network = {
    online: () => network.online,
    subscribe: (listener) => {
      network.listeners.add(listener);
      return () => network.listeners.delete(listener);
    },
  };
  const fetch: Ports['fetch'] = async (url, { method, headers, body }) => {
    const joining = url.endsWith('/join');
    (joining ? service.joins : service.commands).push({
      at: ports.clock.now(),
      what: `${method} ${url.replace('https://api', '')}`,
      body: typeof body === 'string' ? body : '',
      authorization: new Headers(headers).get('authorization') ?? undefined,
      traceparent: new Headers(headers).get('traceparent') ?? undefined,
    });
    const answers = joining ? service.answers : service.commandAnswers;
    const next = answers.length > 1 ? answers.shift() : answers[0];
    const answer = next?.() ?? new Error('no answer');
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const openSocket = (url: string, handlers: WireHandlers) => {
    const socket = fakeSocket(url, handlers);
    sockets.push(socket);
    return {
      send: (data: string | Uint8Array<ArrayBuffer>) => {
        if (typeof data === 'string' && data.startsWith('{')) {
          socket.sent.push(JSON.parse(data) as Record<string, unknown>);
        } else socket.directed.push(data);
      },
      buffered: () => 0,
      close: (code: number) => {
        socket.closed = code;
      },
    };
  };
  const ports = fakePorts({ fetch, openSocket, network: networkPort, ...change });
  const service: FakeService = {
    ports,
    sockets,
    network,
    joins: [],
    answers: [admitted],
    commands: [],
    commandAnswers: [() => new Response(null, { status: 204 })],
    memory: null,
    get socket() {
      const last = sockets.at(-1);
      if (last === undefined) throw new Error('no socket was opened');
      return last;
    },
    join: (change) =>
      joinCall(
        {
          api: 'https://api',
          room: ROOM,
          name: 'Me',
          microphone: null,
          camera: null,
          memory: {
            read: () => service.memory,
            write: (value) => {
              service.memory = value;
            },
          },
          ...change,
        },
        ports,
      ),
    async enter(change) {
      const call = service.join(change);
      await service.settle();
      service.socket.open();
      service.socket.sendMessage(welcome());
      await service.settle();
      return call;
    },
    async enterLobby(change) {
      const call = service.join(change);
      await service.settle();
      service.socket.open();
      service.socket.sendMessage({
        type: 'lobby-waiting',
        room: { ...joinAnswer.room, kind: 'named', lobby: true },
      });
      await service.settle();
      return call;
    },
    // Requests and their bodies take a few turns of the event loop.
    settle: async () => {
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
    },
  };
  return service;
}

function fakeSocket(url: string, handlers: WireHandlers): FakeSocket {
  return {
    url,
    sent: [],
    directed: [],
    closed: null,
    open: () => handlers.onOpen(),
    sendMessage: (message) => handlers.onText(JSON.stringify(message)),
    text: (text) => handlers.onText(text),
    drop: (code) => handlers.onClose(code),
  };
}
