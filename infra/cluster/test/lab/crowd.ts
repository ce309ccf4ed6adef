/** Many participants without media, outside of the cluster: each consists of the SDK's connection and roster only. */
import assert from 'node:assert/strict';
import { WebSocket } from 'ws';
import { MAX_STALL_MS, watchStalls } from '@parley/e2e/support/stalls.ts';
import { until } from '@parley/e2e/support/until.ts';
import { newRoom } from '@parley/e2e/support/visitor.ts';
import { podNameOf } from '@parley/protocol/ids';
import type { ServerMessage, Welcome } from '@parley/protocol/server-messages';
import type { CallConnection } from '@parley/sdk/call';
import { Connection } from '@parley/sdk/signaling/connection';
import type { Clock, Ports, WireHandlers, WireSocket } from '@parley/sdk/ports';
import {
  emptyRoster,
  withoutExpired,
  afterMessage,
  nextExpiry,
  welcomed,
  type Roster,
} from '@parley/sdk/room/roster';
import type { Entry } from './entry.ts';

/** Only guards against a test that hangs: joins wait for the limits of their addresses. */
const JOIN_HANG_MS = 120_000;
/** So many join at the same time. */
const atOnce = 10;
/** SPEC rule ROS-11, promise P3: this long after the last event all rosters agree. */
const AGREE_WITHIN_MS = 2000;
const RETRY_MS = 1000;
const media = { audio: true, video: true, screen: false };

export class Crowd {
  readonly people: readonly CrowdMember[];
  readonly #rooms: readonly (readonly CrowdMember[])[];

  private constructor(rooms: readonly (readonly CrowdMember[])[]) {
    this.#rooms = rooms;
    this.people = rooms.flat();
  }

  /** Resolves when all participants are in their rooms. */
  static async join(homes: readonly Entry[], { rooms, each }: { rooms: number; each: number }) {
    const names = Array.from({ length: rooms }, newRoom);
    const crowd = new Crowd(
      names.map((room, nth) =>
        Array.from({ length: each }, (_, index) => {
          const entry = homes[(nth + index) % homes.length];
          assert.ok(entry);
          return new CrowdMember(entry, room, `${index} of ${nth}`);
        }),
      ),
    );
    try {
      for (let next = 0; next < crowd.people.length; next += atOnce) {
        const some = crowd.people.slice(next, next + atOnce);
        for (const person of some) person.join();
        await crowd.isIn(some);
      }
      await crowd.agrees();
      return crowd;
    } catch (error) {
      // Participants that joined would stay, and keep the test running.
      crowd.leave();
      throw error;
    }
  }

  /** The number of connected participants of each pod. */
  get pods(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { pod } of this.people) if (pod !== '') counts.set(pod, (counts.get(pod) ?? 0) + 1);
    return counts;
  }

  async isIn(people = this.people): Promise<void> {
    await until(() => people.every(({ isConnected }) => isConnected), {
      withinMs: JOIN_HANG_MS,
      everyMs: 20,
      what: () => `all participants to join: ${describe(people.filter(({ isConnected }) => !isConnected))}`,
    });
  }

  /** Resolves when all have joined and see exactly the participants of their room; answers how long that took after the last join. */
  async agrees(): Promise<number> {
    await this.isIn();
    const start = performance.now();
    const apart = (): readonly CrowdMember[] =>
      this.#rooms.flatMap((room) => room.filter((one) => !one.sees(room)));
    const stalled = watchStalls();
    await until(() => apart().length === 0, {
      withinMs: AGREE_WITHIN_MS + MAX_STALL_MS,
      everyMs: 20,
      what: () => `rosters to agree: ${describe(apart())}`,
    });
    const agreedMs = Math.round(performance.now() - start);
    const maxMs = AGREE_WITHIN_MS + stalled();
    assert.ok(agreedMs <= maxMs, `rosters agreed after ${agreedMs} ms, at most ${maxMs} are allowed`);
    return agreedMs;
  }

  /** All failures of all participants. */
  get losses(): readonly string[] {
    return this.people.flatMap(({ losses }) => losses);
  }

  /** The longest time of any participant without a socket, in milliseconds; resets the measurement. */
  takeLongestGap(): number {
    return Math.max(...this.people.map((person) => person.takeLongestGap()));
  }

  leave(): void {
    for (const person of this.people) person.leave();
  }
}

function describe(people: readonly CrowdMember[]): string {
  const first = people.slice(0, 3).map((person) => person.describe());
  return `${people.length} are not, ${first.join('; ')}`;
}

export class CrowdMember {
  readonly #name: string;
  readonly #begin: () => Connection;
  #connection: Connection | undefined;
  readonly losses: string[] = [];
  #id = '';
  #roster: Roster = emptyRoster;
  #state: CallConnection = { status: 'joining' };
  #socket: WebSocket | undefined;
  #cancelExpiry: () => void = () => undefined;
  #lostAt: number | undefined;
  #longestGapMs = 0;

  constructor(entry: Entry, room: string, name: string) {
    this.#name = name;
    const ports = portsOf(entry, (socket) => (this.#socket = socket));
    const options = { api: `https://${entry.host}`, room, name, microphone: null, camera: null };
    this.#begin = () =>
      new Connection(options, ports, {
        onState: (state) => this.#stateChanged(state),
        onWelcome: (welcome) => this.#welcomed(welcome),
        onMessage: (message) => this.#onMessage(message),
        onDirected: () => undefined,
        onEnter: () => undefined,
        introduction: () => ({ name, media, chat: [] }),
      });
  }

  join(): void {
    this.#connection = this.#begin();
    this.#connection.start();
  }

  leave(): void {
    this.#cancelExpiry();
    this.#connection?.leave();
  }

  /** Breaks the connection, as a network does; the participant resumes. */
  breakSocket(): void {
    this.#socket?.terminate();
  }

  get isConnected(): boolean {
    return this.#state.status === 'connected';
  }

  get pod(): string {
    return this.#state.status === 'connected' ? podNameOf(this.#state.pod) : '';
  }

  /** Whether the roster is exactly these participants, none of them away. */
  sees(room: readonly CrowdMember[]): boolean {
    const { members } = this.#roster;
    const others = room.filter((one) => one !== this);
    return members.size === others.length && others.every((one) => members.get(one.#id)?.state === 'here');
  }

  takeLongestGap(): number {
    const longest = this.#longestGapMs;
    this.#longestGapMs = 0;
    return longest;
  }

  describe(): string {
    const seen = [...this.#roster.members.values()].map(({ name, state }) => `${name} ${state}`);
    const state = this.#state.status === 'ended' ? `ended: ${this.#state.reason}` : this.#state.status;
    return `${this.#name} (${state}) sees ${seen.join(', ')}`;
  }

  #stateChanged(state: CallConnection): void {
    this.#state = state;
    if (state.status === 'recovering') this.#lostAt ??= performance.now();
    if (state.status === 'connected' && this.#lostAt !== undefined) {
      this.#longestGapMs = Math.max(this.#longestGapMs, Math.round(performance.now() - this.#lostAt));
      this.#lostAt = undefined;
    }
    if (state.status !== 'ended' || state.reason === 'left') return;
    // A refused first join is retried, as people do; a participant that had joined is lost.
    if (this.#id === '' && state.retry) clock.after(state.retryAfterMs ?? RETRY_MS, () => this.join());
    else this.losses.push(`${this.#name}: ${state.reason}`);
  }

  #welcomed(welcome: Welcome): void {
    if (this.#id !== '' && this.#id !== welcome.participant)
      this.losses.push(`${this.#name} became another participant`);
    this.#id = welcome.participant;
    this.#follow(welcomed(this.#roster, welcome, clock.now()));
  }

  #onMessage(message: ServerMessage): void {
    this.#follow(afterMessage(this.#roster, message));
  }

  #follow(roster: Roster): void {
    for (const [id, { name }] of this.#roster.members) {
      if (!roster.members.has(id)) this.losses.push(`${this.#name} saw ${name} leave`);
    }
    this.#roster = roster;
    this.#cancelExpiry();
    const expiry = nextExpiry(roster);
    if (expiry === null) return;
    this.#cancelExpiry = clock.after(Math.max(0, expiry - clock.now()), () =>
      this.#follow(withoutExpired(this.#roster, clock.now())),
    );
  }
}

const clock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};

function portsOf(entry: Entry, onSocket: (socket: WebSocket) => void): Ports {
  return {
    async fetch(url, { body = '' }) {
      assert.ok(typeof body === 'string');
      const { status, text } = await entry.post(new URL(url).pathname, JSON.parse(body) as unknown);
      return new Response(text, { status });
    },
    openSocket(url, handlers) {
      const socket = entry.open(url);
      onSocket(socket);
      return wire(socket, handlers);
    },
    createConnection: () => {
      throw new Error('this crowd has no media');
    },
    createStream: () => {
      throw new Error('this crowd has no media');
    },
    clock,
    subtle: crypto.subtle,
    random: {
      fraction: () => Math.random(),
      bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    },
    network: { online: () => true, subscribe: () => () => undefined },
    compression: null,
    measureLevel: null,
    relayedMedia: null,
  };
}

function wire(socket: WebSocket, handlers: WireHandlers): WireSocket {
  socket.on('open', () => handlers.onOpen());
  // `close` follows.
  socket.on('error', () => undefined);
  socket.on('close', (code) => handlers.onClose(code));
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) handlers.onBinary(new Uint8Array(data));
    else handlers.onText(data.toString());
  });
  return {
    send: (data) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(data);
    },
    close: (code) => socket.close(code),
    buffered: () => socket.bufferedAmount,
  };
}
