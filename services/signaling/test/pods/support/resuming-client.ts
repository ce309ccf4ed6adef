/**
 * A client that resumes by itself, as client/sdk does: it leaves after its delay, or after a close that asks for it, resumes on another pod with a
 * higher generation, and stops for good when it was replaced.
 */
import { randomInt } from 'node:crypto';
import { WebSocket } from 'ws';
import { CODES } from '@parley/protocol/codes';
import { decodeServerMessage } from '@parley/protocol/decode';
import { receivedText, directedText } from '@parley/protocol/directed';
import { socketPath } from '@parley/protocol/http';
import type { ServerMessage, Welcome } from '@parley/protocol/server-messages';
import { NO_MEDIA, ticketFor } from '../../support/client.ts';
import { eventually } from '../../support/deadline.ts';

/** As the backoff of client/sdk: full jitter, below half a second at first. */
const FIRST_BACKOFF_MS = 500;
const CAP_BACKOFF_MS = 5000;

export interface ResumingOptions {
  readonly room: string;
  readonly name: string;
  /** Addresses of the pods; the first is entered, the client resumes on the next ones. */
  readonly pods: readonly string[];
  /** Waits for the close instead of leaving after its delay. */
  readonly ignoresSlot?: boolean;
}

export class ResumingClient {
  readonly room: string;
  readonly name: string;
  /** The participants that this client shows, and their states. */
  readonly roster = new Map<string, 'here' | 'away' | 'unreachable'>();
  /** Roster events, in order, over all sockets. */
  readonly log: { readonly type: string; readonly participant: string }[] = [];
  /** The delays of `goaway` messages, with the time at which each arrived. */
  readonly slots: { readonly at: number; readonly afterMs: number }[] = [];
  /** Sockets that the peer closed: when, and with which code. */
  readonly closes: { readonly at: number; readonly code: number }[] = [];
  readonly undelivered: string[] = [];
  readonly directed: string[] = [];
  /** The pod that it left in its slot closed the socket to it with `REPLACED`. */
  replaced = false;
  welcomes = 0;
  /** The number of sockets that it opened, or tried to open. */
  attempts = 0;
  welcomedAt = 0;
  participant = '';
  /** The code that ended it for good. */
  stopped: number | undefined;
  readonly #pods: readonly string[];
  readonly #ignoresSlot: boolean;
  #at = 0;
  #token = '';
  #generation = 0;
  #failures = 0;
  #socket: WebSocket | undefined;
  /** To a pod that drains, until that closes it. */
  #old: WebSocket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor({ room, name, pods, ignoresSlot = false }: ResumingOptions) {
    this.room = room;
    this.name = name;
    this.#pods = pods;
    this.#ignoresSlot = ignoresSlot;
  }

  static async enter(options: ResumingOptions): Promise<ResumingClient> {
    const client = new ResumingClient(options);
    const { ticket } = await ticketFor(client.pod, client.room);
    client.#open(ticket);
    await eventually(`${client.name} is welcomed`, () => client.isIn, 15_000);
    return client;
  }

  /** The address of the pod that it uses or tries. */
  get pod(): string {
    return this.#pods[this.#at % this.#pods.length] ?? '';
  }

  get isIn(): boolean {
    return this.#token !== '' && this.#socket !== undefined && this.#failures === 0;
  }

  sendMessage(message: object): void {
    this.#socket?.send(JSON.stringify(message));
  }

  send(to: ResumingClient, id: string, payload: string): void {
    this.#socket?.send(directedText(to.participant, id, payload));
  }

  /** A copy of the tab: the same token on a socket of its own, first on the first of these pods. */
  duplicate(pods: readonly string[]): ResumingClient {
    const secondTab = new ResumingClient({ room: this.room, name: this.name, pods });
    secondTab.#token = this.#token;
    secondTab.#generation = this.#generation;
    secondTab.#open();
    return secondTab;
  }

  /** Loses the connection and resumes on the next pod. */
  move(): void {
    this.#leaveSocket();
    this.#resumeElsewhere();
  }

  close(): void {
    this.#ended = true;
    this.#leaveSocket();
    this.#old?.terminate();
  }

  /** Resumes on the next pod, beside the socket to the one that drains. */
  #moveInSlot(): void {
    this.#old = this.#socket;
    this.#resumeElsewhere();
  }

  #leaveSocket(): void {
    clearTimeout(this.#timer);
    this.#socket?.terminate();
    this.#socket = undefined;
  }

  #resumeElsewhere(): void {
    this.#at += 1;
    this.#open();
  }

  #open(ticket?: string): void {
    const socket = new WebSocket(this.pod.replace(/^http/, 'ws') + socketPath(this.room));
    const { name } = this;
    this.#socket = socket;
    this.attempts += 1;
    this.#failures += 1;
    this.#generation += 1;
    const about = { generation: this.#generation, name, media: NO_MEDIA };
    const first =
      ticket === undefined
        ? { type: 'resume', token: this.#token, chat: [], ...about }
        : { type: 'enter', ticket, ...about };
    socket.on('open', () => socket.send(JSON.stringify(first)));
    // The close that follows has the reason.
    socket.on('error', () => {});
    socket.on('message', (data) => {
      if (this.#socket === socket && Buffer.isBuffer(data)) this.#receive(data.toString());
    });
    socket.on('close', (code) => {
      if (this.#socket === socket) this.#lost(code);
      else if (this.#old === socket) this.replaced ||= code === CODES.REPLACED.close;
    });
  }

  #lost(code: number): void {
    this.#socket = undefined;
    clearTimeout(this.#timer);
    this.closes.push({ at: performance.now(), code });
    if (this.#ended) return;
    const again = code === 1006 || Object.values(CODES).some(({ close, retry }) => close === code && retry);
    if (!again) {
      this.stopped = code;
      return;
    }
    const most = Math.min(CAP_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#failures);
    this.#timer = setTimeout(() => this.#resumeElsewhere(), randomInt(most));
  }

  #receive(text: string): void {
    const directed = receivedText(text);
    if (directed !== undefined) {
      this.directed.push(directed.payload);
      return;
    }
    const decoded = decodeServerMessage(text);
    if (!decoded.ok) throw new Error(`a pod said something outside the schema: ${decoded.reason}: ${text}`);
    this.#take(decoded.message);
  }

  #take(message: ServerMessage): void {
    switch (message.type) {
      case 'welcome':
        return this.#welcomed(message);
      case 'goaway':
        this.slots.push({ at: performance.now(), afterMs: message.afterMs });
        if (!this.#ignoresSlot) this.#timer = setTimeout(() => this.#moveInSlot(), message.afterMs);
        return undefined;
      case 'joined': {
        // A participant that was kept as away while the room recovered has only come back.
        const { participant, state } = message.member;
        return this.#note(this.roster.has(participant) ? 'back' : 'joined', participant, state);
      }
      case 'left':
        return this.#note(message.type, message.participant, undefined);
      case 'away':
        return this.#note(message.type, message.participant, 'away');
      case 'back':
        return this.#note(message.type, message.participant, 'here');
      case 'undelivered':
        this.undelivered.push(message.id);
        return undefined;
      default:
        return undefined;
    }
  }

  #note(type: string, participant: string, state: 'here' | 'away' | 'unreachable' | undefined): void {
    this.log.push({ type, participant });
    if (state === undefined) this.roster.delete(participant);
    else this.roster.set(participant, state);
  }

  /** A participant that is new or missing after a resume counts as joined or left, as an application would show it. */
  #welcomed(welcome: Welcome): void {
    const states = new Map(welcome.roster.map(({ participant, state }) => [participant, state]));
    if (this.welcomes > 0) {
      for (const one of states.keys())
        if (!this.roster.has(one)) this.log.push({ type: 'joined', participant: one });
      for (const one of this.roster.keys()) {
        if (states.has(one)) continue;
        // A pod whose room is recovering may not know all participants yet; the others stay as away until it does.
        if (welcome.recovering) states.set(one, 'away');
        else this.log.push({ type: 'left', participant: one });
      }
    }
    this.roster.clear();
    for (const [participant, state] of states) this.roster.set(participant, state);
    this.#token = welcome.resume;
    this.#failures = 0;
    this.participant = welcome.participant;
    this.welcomes += 1;
    this.welcomedAt = performance.now();
  }
}
