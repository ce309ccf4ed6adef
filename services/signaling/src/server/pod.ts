/** The shell around the core: it holds sockets, bus and timer, gives the core its inputs and carries out its effects, in order. */
import { performance } from 'node:perf_hooks';
import type { Logger } from 'pino';
import type { ModerationAction, RoomPolicy } from '@parley/protocol/bus';
import type { Enter, Resume } from '@parley/protocol/client-messages';
import type { IceOffer, LiveRequest, RelayOffer, RoomView } from '@parley/protocol/http';
import type { ParticipantId, RoomId } from '@parley/protocol/ids';
import { createCore, type Core } from '../core/core.ts';
import type { Effect } from '../core/effects.ts';
import type { SocketId } from '../core/socket-id.ts';
import type { Input } from '../core/input.ts';
import type {
  Bus,
  BusListener,
  MediaBus,
  MediaListener,
  PageBus,
  PageListener,
  SeatStore,
  TurnListener,
} from '../core/ports.ts';
import type { ChatProofs } from '../adapters/chat-proofs.ts';
import type { Tokens } from '../adapters/tokens.ts';
import type { Person } from '../core/person.ts';
import { Alarm } from './alarm.ts';
import { readArrival, type ArrivalParts } from './arrival.ts';
import { budgetsOf, type Budgets } from './budgets.ts';
import type { Config } from './config.ts';
import type { Connection, Entered, Host, Refused } from './connection.ts';
import { sendElsewhere } from './drain.ts';
import { gateOf, type Gate } from './gate.ts';
import { HomeRegion } from './home-region.ts';
import { MediaDesk } from './media-desk.ts';
import { Metrics } from './metrics.ts';
import { PageDesk } from './page-desk.ts';
import { implausible } from './plausible.ts';
import { ratesOf, type Rates } from './rates.ts';
import type { Rooms } from './rooms.ts';
import { SeatKeeper } from './seat-keeper.ts';
import { TurnDesk } from './turn-desk.ts';
import type { VisitorConnection } from './visitor-connection.ts';

export type ModerationResult = Pick<Effect & { type: 'moderated' }, 'outcome' | 'name' | 'visitor'>;

export interface PodParts {
  readonly config: Config;
  readonly log: Logger;
  readonly tokens: Tokens;
  readonly proofs: ChatProofs;
  readonly rooms: Rooms;
  readonly seats: SeatStore;
  readonly openBus: (listener: BusListener) => Bus;
  readonly openMedia: (listener: MediaListener) => MediaBus;
  readonly openPages: (listener: PageListener) => PageBus;
  readonly openTurn: (listener: TurnListener) => void;
}

export class SignalingPod implements Host {
  readonly limits: Config['limits'];
  readonly metrics: Metrics;
  readonly budgets: Budgets;
  readonly rates: Rates;
  readonly core: Core;
  readonly #parts: PodParts;
  readonly #bus: Bus;
  readonly #arrivals: ArrivalParts;
  readonly #gate: Gate;
  readonly #home: HomeRegion;
  readonly #media: MediaDesk;
  readonly #turn: TurnDesk;
  /** Owners' requests that some pod has yet to answer. */
  readonly #requests = new Map<number, (result: ModerationResult) => void>();
  readonly #listings = new Map<number, (people: readonly Person[]) => void>();
  /** Grows over restarts too. */
  #lastRequest = 1000 * Date.now();
  readonly pages: PageDesk;
  /** Of rooms. */
  readonly #connections = new Map<SocketId, Connection>();
  /** Of rooms and pages. */
  readonly #sockets = new Map<SocketId, Connection | VisitorConnection>();
  readonly #perAddress = new Map<string, number>();
  readonly #pings: NodeJS.Timeout;
  readonly #alarm: Alarm;
  /** When this pod last heard its own beat. */
  #heardAt: number | undefined;
  #draining = false;
  #whenEmpty: () => void = () => undefined;
  #closed = false;

  constructor(parts: PodParts) {
    const { config } = parts;
    const boot = Date.now();
    this.#parts = parts;
    this.limits = config.limits;
    this.budgets = budgetsOf(config.limits);
    this.rates = ratesOf(config.limits, this.now());
    this.core = createCore({
      pod: config.pod,
      boot,
      limits: config.limits,
      now: this.now(),
      random: Math.random,
    });
    this.#gate = gateOf({
      rates: this.rates,
      now: () => this.now(),
      isUsed: (room, participant) => this.core.isKnown(room, participant),
    });
    this.metrics = new Metrics(() => ({
      ...this.core.counts(),
      connections: this.#sockets.size,
      pages: this.pages.counts(),
      mediaRelays: this.#media.relays,
      turnNodes: this.#turn.count(),
      bufferedBytes: this.budgets.buffered.bytes,
      incompleteBytes: this.budgets.incomplete.bytes,
    }));
    this.#arrivals = { ...parts, limits: config.limits, viewHere: (room) => this.core.view(room) };
    const seats = new SeatKeeper({
      store: parts.seats,
      pod: config.pod,
      boot,
      isAbandoned: ({ room }, seat) => this.core.isAbandoned(room, seat),
      metrics: this.metrics,
    });
    this.#home = new HomeRegion({ ...this.#arrivals, seats, handle: (input) => this.handle(input) });
    this.#media = new MediaDesk({
      ...parts,
      limits: config.limits,
      hosts: config.mediaHosts,
      metrics: this.metrics,
      now: () => this.now(),
    });
    this.#turn = new TurnDesk({ ...parts, now: () => this.now() });
    this.pages = new PageDesk({
      ...parts,
      metrics: this.metrics,
      budgets: this.budgets,
      boot,
      turn: this.#turn,
      now: () => this.now(),
      onClosed: (connection) => this.#forget(connection),
    });
    this.#alarm = new Alarm(
      () => this.now(),
      () => {
        this.#carryOut(this.core.wake(this.now()));
        this.#arm();
      },
    );
    this.#bus = parts.openBus({
      onMessage: (message) => {
        if (message.type === 'beat' && message.pod === config.pod) this.#heardAt = this.now();
        this.handle({ type: 'bus', message });
      },
      onTransfer: (transfer) => {
        this.metrics.directedIn += 1;
        this.handle({ type: 'transfer', transfer });
      },
      onBack: () => this.handle({ type: 'bus-back' }),
    });
    this.#pings = setInterval(() => {
      for (const socket of this.#sockets.values()) socket.checkAlive();
    }, this.limits['socket.pingInterval']);
    this.#arm();
  }

  now(): number {
    return performance.now();
  }

  get isReady(): boolean {
    return !this.#draining && this.#bus.isConnected() && this.core.ready();
  }

  /**
   * Whether people may come into this room here. Without a bus the pod is not ready, so that the edge prefers others, but a room
   * that it has goes on, and when every pod is without, ad-hoc rooms open. SPEC rule JOIN-14.
   */
  admits(room: RoomId): boolean {
    if (this.#draining || this.#heardAt === undefined) return false;
    return this.isReady || this.core.population(room) > 0 || this.now() - this.#heardAt > ALONE_AFTER_MS;
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  get socketCount(): number {
    return this.#sockets.size;
  }

  socketsOf(address: string): number {
    return this.#perAddress.get(address) ?? 0;
  }

  accept(connection: Connection): void {
    this.#connections.set(connection.id, connection);
    this.#remember(connection);
  }

  acceptVisitor(connection: VisitorConnection): void {
    this.#remember(connection);
    this.pages.accept(connection);
  }

  closed(connection: Connection): void {
    this.#connections.delete(connection.id);
    this.handle({ type: 'lost', socket: connection.id });
    this.#forget(connection);
  }

  #remember(socket: Connection | VisitorConnection): void {
    this.#sockets.set(socket.id, socket);
    this.#perAddress.set(socket.address, this.socketsOf(socket.address) + 1);
  }

  #forget({ id, address }: Connection | VisitorConnection): void {
    // One that was refused at the door has never been here.
    if (!this.#sockets.delete(id)) return;
    const left = this.socketsOf(address) - 1;
    if (left > 0) this.#perAddress.set(address, left);
    else this.#perAddress.delete(address);
    if (this.#sockets.size === 0) this.#whenEmpty();
  }

  handle(input: Input): void {
    // Sockets end after the pod has: nobody is to hear of it any more, and no timer is to start again.
    if (this.#closed) return;
    this.#carryOut(this.core.handle(input, this.now()));
    this.#arm();
  }

  /** Signed here: the name is the one that the others are shown. */
  chat({ id: socket, room }: Connection, id: string, text: string): void {
    const holder = this.core.holder(socket);
    if (holder === undefined) return;
    const line = { id, from: holder.participant, name: holder.name, text, at: Date.now() };
    const proof = this.#parts.proofs.sign(room, line);
    this.handle({ type: 'chat', socket, line: { ...line, proof } });
  }

  /** The cheap checks first. Only who has shown a good token takes from what all clients of the pod share. SPEC rule LIM-12. */
  async admit(connection: Connection, message: Enter | Resume): Promise<Refused | undefined> {
    const { id: socket, room, address } = connection;
    const wait = this.rates.resumes.take(address, this.now());
    if (wait !== undefined) return { code: 'TOO_MANY_REQUESTS', retryAfterMs: wait };
    const isOwn = message.type === 'enter' && this.#parts.tokens.isOwnTicket(message.ticket);
    const code = isOwn ? undefined : implausible(message, room);
    if (code !== undefined) return { code };
    const takeRate = (): boolean => connection.takeChatRate();
    const onDropped = (reason: string): void => this.metrics.chatDropped.inc({ reason });
    const door = { socket, room, gate: this.#gate, takeRate, onDropped };
    const arrival = await readArrival(this.#arrivals, door, message);
    if ('code' in arrival) return arrival;
    if (!connection.isEntering) return undefined;
    this.handle(arrival);
    return undefined;
  }

  /** The core has let the participant in: what is refused before costs no line of the log. */
  entered({ room, trace }: Connection, { participant, generation, kind }: Entered): void {
    this.metrics.arrivals.inc({ kind });
    this.#parts.log.info({ trace, room, participant, generation, kind }, 'arrived');
  }

  /** `undefined` where the address may ask for something that costs a signature; otherwise how long to wait, in ms. SPEC rule LIM-14. */
  takeRead(address: string): number | undefined {
    return this.rates.reads.take(address, this.now());
  }

  /** The STUN and TURN servers that everyone of this room uses, with fresh credentials for a client at this address. */
  iceOffer(room: RoomId, address: string): IceOffer {
    return this.#turn.offer(room, address);
  }

  takeIceRequest(address: string): number | undefined {
    return this.#turn.takeRequest(address);
  }

  /** A relay where this room meets, with a fresh token for it; `null` where the region has none. */
  relayOffer(room: RoomId, participant: ParticipantId, without?: string): RelayOffer | null {
    const inside = this.core.people(room).filter(({ state }) => state !== 'waiting');
    const people = inside.map((person) => person.participant);
    return this.#media.offer(room, participant, people, without);
  }

  /** The same for a live broadcast. */
  liveOffer(name: string, asked: LiveRequest): RelayOffer | null {
    return this.#media.offerLive(name, asked);
  }

  #carryOut(effects: readonly Effect[]): void {
    for (const effect of effects) this.#do(effect);
  }

  #do(effect: Effect): void {
    switch (effect.type) {
      case 'say':
        return this.#say(effect);
      case 'hand-on':
        this.metrics.directedHere += 1;
        return this.#connections.get(effect.socket)?.handOn(effect.from, effect.payload, effect.binary);
      case 'close':
        return this.#connections.get(effect.socket)?.end(effect.code);
      case 'listen':
        return this.#bus.listen(effect.room);
      case 'stop-listening':
        return this.#bus.stopListening(effect.room);
      case 'tell-room':
        return this.#bus.publish(effect.room, effect.message);
      case 'tell-pod':
        return this.#bus.tellPod(effect.pod, effect.message);
      case 'beat':
        return this.#bus.beat(effect.message);
      case 'take-seat':
      case 'let-in':
      case 'claim-seat':
      case 'free-seat':
      case 'read-policy':
        return this.#home.ask(effect);
      case 'moderated':
        this.#requests.get(effect.ref)?.(effect);
        this.#requests.delete(effect.ref);
        return undefined;
      case 'listed':
        this.#listings.get(effect.ref)?.(effect.people);
        this.#listings.delete(effect.ref);
        return undefined;
      case 'departed':
        return this.#media.departed(effect);
      case 'transfer':
        this.metrics.directedOut += 1;
        return this.#bus.transfer(effect.pod, effect.transfer);
      default:
        return effect satisfies never;
    }
  }

  /** What an owner asks of somebody in the room, wherever that is. Never rejects; answers within 3 s. */
  moderate(room: RoomId, action: ModerationAction, participant: ParticipantId): Promise<ModerationResult> {
    this.#lastRequest += 1;
    const ref = this.#lastRequest;
    return new Promise((resolve) => {
      this.#requests.set(ref, resolve);
      this.handle({ type: 'moderate', ref, room, action, participant });
    });
  }

  /** Everyone in the room, on every pod, and in its lobby. Never rejects; answers within half a second. */
  list(view: RoomView, policy: RoomPolicy | undefined): Promise<readonly Person[]> {
    this.#lastRequest += 1;
    const ref = this.#lastRequest;
    return new Promise((resolve) => {
      this.#listings.set(ref, resolve);
      this.handle({ type: 'list', ref, view, policy });
    });
  }

  /** A token as this one, for longer. SPEC rule RES-11. */
  renew(token: string): string {
    return this.#parts.tokens.renewResume(token, this.limits['resume.ttl']);
  }

  #say({ sockets, message }: Effect & { type: 'say' }): void {
    if (message.type === 'undelivered') this.metrics.undelivered.inc({ reason: message.reason });
    const [only] = sockets;
    if (sockets.length === 1 && only !== undefined) {
      this.#connections.get(only)?.say(message);
      return;
    }
    const text = JSON.stringify(message);
    for (const socket of sockets) this.#connections.get(socket)?.sayText(text);
  }

  #arm(): void {
    this.#alarm.set(this.core.nextWake());
  }

  /** Sends everyone elsewhere and resolves when all are gone; `hurry` skips what remains of the pacing. SPEC rule RES-8. */
  async drain(hurry: AbortSignal = new AbortController().signal): Promise<void> {
    this.#draining = true;
    this.pages.announceLeaving();
    await sendElsewhere([...this.#sockets.values()], this.limits['drain.window'], hurry);
    // Each ends, as one that does not answer its close frame is cut off. Only then have the other pods heard who is away.
    if (this.#sockets.size > 0) await new Promise<void>((resolve) => (this.#whenEmpty = resolve));
    this.pages.announceLeft();
  }

  async close(): Promise<void> {
    clearInterval(this.#pings);
    this.#alarm.cancel();
    this.#closed = true;
    this.#home.close();
    this.pages.close();
    for (const socket of this.#sockets.values()) socket.end('GO_ELSEWHERE');
    await this.#bus.close();
  }
}

/**
 * How long newcomers to a room that is not here are sent away by a pod without a bus. The edge has found the ready pods by then;
 * whoever still comes has no other pod to go to.
 */
const ALONE_AFTER_MS = 5000;
