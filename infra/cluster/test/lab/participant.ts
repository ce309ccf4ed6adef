/** A participant without a browser: joins through an entry, and keeps the messages of its socket. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { WebSocket } from 'ws';
import { MAX_STALL_MS } from '@parley/e2e/support/stalls.ts';
import { until } from '@parley/e2e/support/until.ts';
import { decodeServerMessage } from '@parley/protocol/decode';
import type { IceServer } from '@parley/protocol/http';
import { podNameOf } from '@parley/protocol/ids';
import type { ServerMessage } from '@parley/protocol/server-messages';
import type { Entry } from './entry.ts';

/** Each of these steps has a promise of at most 2 s (ROS-7, P3); `withinMs` also covers the stalls of the machine at most. */
const withinMs = 2000 + MAX_STALL_MS;
/** A lease of a relay comes every 2 s (MEDIA-1), and the participant asks again every second. */
const relayWithinMs = 5000;

export interface Relay {
  readonly url: string;
  readonly certificateHashes: readonly string[];
}

export class Participant {
  readonly id: string;
  readonly name: string;
  readonly #socket: WebSocket;
  readonly #log: ServerMessage[] = [];

  private constructor(name: string, joined: Joined, socket: WebSocket) {
    this.name = name;
    this.id = joined.participant;
    this.#socket = socket;
    socket.on('message', (data: Buffer) => {
      const decoded = decodeServerMessage(data.toString());
      if (decoded.ok) this.#log.push(decoded.message);
    });
  }

  static async join(entry: Entry, room: string, name: string): Promise<Participant> {
    const { status, text } = await entry.post(`/v1/rooms/${room}/join`, { name });
    assert.equal(status, 200, text);
    const joined = JSON.parse(text) as Joined;
    const socket = entry.open(joined.socketUrl);
    const participant = new Participant(name, joined, socket);
    await once(socket, 'open', { signal: AbortSignal.timeout(withinMs) });
    const media = { audio: true, video: true, screen: false };
    socket.send(JSON.stringify({ type: 'enter', ticket: joined.ticket, generation: 1, name, media }));
    await until(() => participant.#welcome !== undefined, {
      withinMs,
      what: () => `${name} to receive \`welcome\``,
    });
    return participant;
  }

  get pod(): string {
    return podNameOf(this.#welcome?.pod ?? '');
  }

  /** As its welcome contained them. */
  get iceServers(): readonly IceServer[] {
    return this.#welcome?.iceServers ?? [];
  }

  /** Resolves when the other one is in this one's roster. */
  async sees(other: Participant): Promise<void> {
    const isThere = (message: ServerMessage): boolean =>
      (message.type === 'joined' && message.member.participant === other.id) ||
      (message.type === 'welcome' && message.roster.some(({ participant }) => participant === other.id));
    await until(() => this.#log.some(isThere), { withinMs, what: () => `${this.name} to see ${other.name}` });
  }

  /** The relay that this participant is sent to; asks until there is one. */
  async relay(): Promise<Relay> {
    const answers = (): Relay[] =>
      this.#log.flatMap((message) => (message.type === 'relay' && message.relay ? [message.relay] : []));
    await until(
      () => {
        this.#socket.send(JSON.stringify({ type: 'relay' }));
        return answers().length > 0;
      },
      { withinMs: relayWithinMs, everyMs: 1000, what: () => `${this.name} to receive a relay` },
    );
    const [first] = answers();
    assert.ok(first);
    return first;
  }

  /** The ICE servers that the pod offers now. */
  async freshIceServers(): Promise<readonly IceServer[]> {
    const before = this.#log.length;
    const answer = () => this.#log.slice(before).find((message) => message.type === 'ice');
    this.#socket.send(JSON.stringify({ type: 'ice' }));
    await until(() => answer() !== undefined, {
      withinMs,
      everyMs: 20,
      what: () => `${this.name} to receive ICE servers`,
    });
    return answer()?.iceServers ?? [];
  }

  leave(): void {
    this.#socket.terminate();
  }

  get #welcome(): Extract<ServerMessage, { type: 'welcome' }> | undefined {
    return this.#log.find((message) => message.type === 'welcome');
  }
}

interface Joined {
  readonly participant: string;
  readonly ticket: string;
  readonly socketUrl: string;
}
