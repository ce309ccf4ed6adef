/** A participant in a scripted world: the messages that it received, and how it joins, leaves and resumes, as the SDK does. */
import type { Code } from '@parley/protocol/codes';
import type { RoomView } from '@parley/protocol/http';
import { participantId } from '@parley/protocol/ids';
import type { ResumeChatLine, Media } from '@parley/protocol/people';
import type { Limits } from '@parley/protocol/limits';
import type { BareWelcome, CoreMessage } from '../../src/core/effects.ts';
import type { VisitorMarks } from '@parley/protocol/tokens';
import type { Input } from '../../src/core/input.ts';
import type { ChatProofs } from '../../src/adapters/chat-proofs.ts';
import { readResumeChat } from '../../src/server/resume-chat.ts';
import { adHoc } from './ad-hoc.ts';
import type { HomeStore } from './home-store.ts';

/** What a participant needs of the world around it. */
export interface Surroundings {
  /** Fake time in ms. */
  readonly now: number;
  /** Unix time in ms, as the pods' clocks show it. */
  readonly clock: number;
  openSocket(pod: string, holder: Person): number;
  loseSocket(pod: string, socket: number, how: { readonly isUnloaded?: boolean }): void;
  /** The client vanished from it without a close. */
  leaveHalfOpen(pod: string, socket: number): void;
  handle(pod: string, input: Input): void;
  /** What a pod does with a chat line of this socket. */
  chat(pod: string, socket: number, line: { id: string; text: string; room: string }): void;
  readonly limits: Limits;
  readonly proofs: ChatProofs;
  readonly store: HomeStore;
}

const NO_MEDIA: Media = { audio: false, video: false, screen: false };

type Line =
  | { readonly pod: string; readonly socket: number; readonly state: 'arriving' | 'here' }
  | { readonly state: 'lost'; readonly since: number }
  | { readonly state: 'ended'; readonly code: Code | null };

export class Person {
  readonly id: string;
  readonly name: string;
  generation = 0;
  /** Joined with the owner key. */
  owner = false;
  visitor: VisitorMarks | undefined;
  /** The room that it joined. */
  view: RoomView = adHoc();
  /** What it shows to others; a resume repeats it. */
  shown: { readonly name: string; readonly media: Media };
  /** The incarnation of the room that its ticket was issued for. */
  incarnation: string | undefined;
  /** Every message to this participant, over all its sockets, in order. */
  readonly log: CoreMessage[] = [];
  /** When each of them arrived, in the world's time. */
  readonly receivedAt: number[] = [];
  readonly received: { readonly from: string; readonly text: string }[] = [];
  line: Line = { state: 'lost', since: -Infinity };
  joinedAt = -Infinity;
  /** When it was first welcomed: the world's time, and Unix ms. */
  enteredAt: number | undefined;
  enteredClock = 0;
  #welcome: BareWelcome | undefined;
  #tokenGeneration = 0;
  #welcomedAt = -Infinity;
  readonly #world: Surroundings;

  constructor(world: Surroundings, number: number, name: string) {
    this.#world = world;
    this.name = name;
    this.shown = { name, media: NO_MEDIA };
    this.id = participantId(
      Uint8Array.from({ length: 16 }, (_, at) => (at < 8 ? number >> (4 * at) : 0) & 15),
    );
  }

  /** The last welcome; fails where there was none. */
  get welcome(): BareWelcome {
    if (this.#welcome === undefined) throw new Error(`${this.name} was never welcomed`);
    return this.#welcome;
  }

  get wasWelcomed(): boolean {
    return this.#welcome !== undefined;
  }

  get isHere(): boolean {
    return this.line.state === 'here';
  }

  /** The types of all messages that it received, in order. */
  get types(): string[] {
    return this.log.map(({ type }) => type);
  }

  get endedWith(): Code | null | undefined {
    return this.line.state === 'ended' ? this.line.code : undefined;
  }

  join(pod: string, view: RoomView = adHoc()): void {
    this.view = view;
    this.joinedAt = this.#world.now;
    this.#arrive(pod, (arrival) => {
      this.#world.handle(pod, { type: 'join', ...this.#admission(view), ...arrival });
    });
  }

  /** What admission has determined. */
  #admission(view: RoomView) {
    const { owner, visitor } = this;
    const policy = this.#world.store.policies.get(view.room);
    this.incarnation ??= policy?.incarnation;
    return { view: policy?.view ?? view, policy, incarnation: this.incarnation, owner, visitor };
  }

  /** On a new socket with the latest token; a socket that is still open becomes half-open. */
  resume(
    pod: string,
    options: {
      chat?: readonly ResumeChatLine[];
      since?: number;
      view?: RoomView;
      generation?: number;
      tokenAgeMs?: number;
    } = {},
  ): void {
    if (options.generation !== undefined) this.generation = options.generation - 1;
    const { chat: brought = [], since = 0, view = this.view } = options;
    const { id: participant, shown } = this;
    const { name } = shown;
    const { limits, proofs, clock: now } = this.#world;
    const chat = readResumeChat({ room: view.room, participant, name, since }, brought, {
      limits,
      proofs,
      now,
      takeRate: () => true,
      onDropped: () => undefined,
    });
    const tokenGeneration = this.#tokenGeneration;
    const tokenAgeMs = options.tokenAgeMs ?? this.#world.now - this.#welcomedAt;
    this.#arrive(pod, (arrival) => {
      this.#world.handle(pod, {
        type: 'resume',
        tokenGeneration,
        tokenAgeMs,
        since,
        chat,
        ...this.#admission(view),
        // A pod asks no other region first (HOME-6).
        ...(isFar(pod, view) ? { policy: undefined } : {}),
        ...arrival,
      });
    });
  }

  /** A copy with the same token and generation, as a duplicated tab has. */
  duplicate(): Person {
    const secondTab = new Person(this.#world, 0, `${this.name}'s second tab`);
    const { id, generation, owner, visitor, view, shown, incarnation } = this;
    Object.assign(secondTab, { id, generation, owner, visitor, view, shown, incarnation });
    secondTab.#welcome = this.#welcome;
    secondTab.enteredClock = this.enteredClock;
    secondTab.#tokenGeneration = this.#tokenGeneration;
    secondTab.#welcomedAt = this.#welcomedAt;
    return secondTab;
  }

  lose(how: { readonly isUnloaded?: boolean } = {}): void {
    if (!('socket' in this.line)) return;
    const { pod, socket } = this.line;
    this.line = { state: 'lost', since: this.#world.now };
    this.#world.loseSocket(pod, socket, how);
  }

  /** The client vanishes without a close, so its pod is not notified. */
  vanish(): void {
    if (!('socket' in this.line)) return;
    const { pod, socket } = this.line;
    this.line = { state: 'lost', since: this.#world.now };
    this.#world.leaveHalfOpen(pod, socket);
  }

  leave(): void {
    this.#handle((socket) => ({ type: 'leave', socket }));
  }

  change(change: { name?: string; media?: Media }): void {
    this.shown = { ...this.shown, ...change };
    this.#handle((socket) => ({ type: 'change', socket, name: change.name, media: change.media }));
  }

  chat(id: string, text: string): void {
    if (!('socket' in this.line)) throw new Error(`${this.name} has no socket`);
    const { room } = this.welcome.room;
    this.#world.chat(this.line.pod, this.line.socket, { id, text, room });
  }

  react(emoji: string): void {
    this.#handle((socket) => ({ type: 'reaction', socket, emoji }));
  }

  send(to: Person | string, id: string, text: string): void {
    const payload = Buffer.from(text);
    const reader = typeof to === 'string' ? to : to.id;
    this.#handle((socket) => ({ type: 'directed', socket, to: reader, id, payload, binary: false }));
  }

  /** Messages of one type since the beginning, or since a mark (`log.length` taken earlier). */
  messagesOf<Type extends CoreMessage['type']>(
    type: Type,
    since = 0,
  ): Extract<CoreMessage, { type: Type }>[] {
    return this.log.slice(since).filter((message): message is Extract<CoreMessage, { type: Type }> => {
      return message.type === type;
    });
  }

  /** The changes of the room's participants that it was sent: `joined p…`, `away p…`. */
  news(since = 0): string[] {
    return this.log.slice(since).flatMap((message) => {
      if (message.type === 'joined') return [`joined ${message.member.participant}`];
      if ('participant' in message && message.type !== 'welcome')
        return [`${message.type} ${message.participant}`];
      return [];
    });
  }

  receive(socket: number, message: CoreMessage): void {
    if (!('socket' in this.line) || this.line.socket !== socket) return;
    this.log.push(structuredClone(message));
    this.receivedAt.push(this.#world.now);
    if (message.type !== 'welcome') return;
    this.#welcome = message;
    if (this.enteredAt === undefined) {
      this.enteredAt = this.#world.now;
      this.enteredClock = this.#world.clock;
    }
    this.#tokenGeneration = this.generation;
    this.#welcomedAt = this.#world.now;
    this.line = { ...this.line, state: 'here' };
  }

  take(socket: number, from: string, payload: Uint8Array): void {
    if ('socket' in this.line && this.line.socket === socket)
      this.received.push({ from, text: Buffer.from(payload).toString() });
  }

  /** The pod closed the socket. */
  closed(socket: number, code: Code | null): void {
    if ('socket' in this.line && this.line.socket === socket) this.line = { state: 'ended', code };
  }

  /** The pod died. */
  cutOff(socket: number): void {
    if ('socket' in this.line && this.line.socket === socket)
      this.line = { state: 'lost', since: this.#world.now };
  }

  #arrive(pod: string, hand: (arrival: Arrival) => void): void {
    this.generation += 1;
    if ('socket' in this.line) this.#world.leaveHalfOpen(this.line.pod, this.line.socket);
    const socket = this.#world.openSocket(pod, this);
    this.line = { pod, socket, state: 'arriving' };
    const { id: participant, generation, shown } = this;
    hand({ socket, participant, generation, ...shown, token: `token of ${participant}` });
  }

  #handle(make: (socket: number) => Input): void {
    if (!('socket' in this.line)) throw new Error(`${this.name} has no socket`);
    this.#world.handle(this.line.pod, make(this.line.socket));
  }
}

interface Arrival {
  readonly socket: number;
  readonly participant: string;
  readonly generation: number;
  readonly name: string;
  readonly media: Media;
  readonly token: string;
}

/** Whether the pod, whose name may begin with its region, is in another region than the room. */
const isFar = (pod: string, { homeRegion }: RoomView): boolean =>
  pod.includes('_') && homeRegion !== null && !pod.startsWith(`${homeRegion}_`);
