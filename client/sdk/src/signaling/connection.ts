/**
 * The connection to a room: admission, one socket at a time, the lobby, resume and rejoin. The order matters: the generation is raised and stored
 * before every socket, so that no two sockets of one participant ever have the same one, not even across a reload.
 */
import type { ClientMessage } from '@parley/protocol/client-messages';
import type { ParticipantId } from '@parley/protocol/ids';
import type { ServerMessage, Welcome } from '@parley/protocol/server-messages';
import { admit } from './admission.ts';
import type { Place } from '../net/request.ts';
import type { SocketLoss } from '../net/socket.ts';
import type { CallOptions, EndReason } from '../call.ts';
import { afterLoss, isPassing } from './ladder.ts';
import { joinTrace, type JoinTrace } from './join-trace.ts';
import { remember } from './memory.ts';
import { RegionOfCall } from './region-of-call.ts';
import { waitBeforeRetry } from './retry-wait.ts';
import { firstMessage, placeOf, startOf, type Ticket } from './start.ts';
import { stateOf, type ConnectionHandlers } from './state.ts';
import { abandon, type Step } from './step.ts';
import type { Ports } from '../ports.ts';
import { openRoomSocket, type RoomSocket } from './socket.ts';

/** A first join that takes longer fails, and the user may try again; a recovery continues until the user leaves. */
const FIRST_JOIN_PATIENCE_MS = 20_000;
/** A socket address that failed this often may name a pod that has ended: admission returns another. */
const SOCKET_TRIES_PER_ADDRESS = 3;
/** Repeated refusals of tickets and resume tokens are a fault: the call ends, and the user decides. */
const REJOINS_IN_A_ROW = 3;

export class Connection {
  readonly #options: CallOptions;
  readonly #ports: Ports;
  readonly #handlers: ConnectionHandlers;
  readonly #stopListening: () => void;
  readonly #region: RegionOfCall;
  readonly #trace: JoinTrace;
  /** The time limit of a first join begins here: after the last wait that the service announced. */
  #patientSince: number;
  #step: Step = { at: 'idle' };
  #generation = 0;
  #socketUrl = '';
  #ticket: Ticket | null = null;
  #token: string | null = null;
  #participant: ParticipantId | null = null;
  /** Failed sockets since the last welcome. */
  #failures = 0;
  #rejoins = 0;
  /** Unix time of the loss; `null` before the first welcome. */
  #lostAt: number | null = null;
  /** `true` between `lobby-waiting` and the welcome, over any number of sockets. */
  #waiting = false;
  /** Many clients are arriving: the turn of this one, in Unix time. */
  #turnAt: number | null = null;
  #cancelMove: () => void = () => undefined;

  constructor(options: CallOptions, ports: Ports, handlers: ConnectionHandlers) {
    this.#options = options;
    this.#ports = ports;
    this.#handlers = handlers;
    this.#patientSince = ports.clock.now();
    this.#trace = joinTrace(options, ports);
    this.#region = new RegionOfCall(options, ports, () => this.#resumeElsewhere());
    this.#stopListening = ports.network.subscribe(() => this.#networkChanged());
  }

  start(): void {
    const { memory, room } = this.#options;
    const { clock } = this.#ports;
    const start = startOf(memory, room, clock);
    if (start.with === 'token') {
      const { known } = start;
      this.#generation = known.generation;
      this.#socketUrl = known.socketUrl;
      this.#token = known.resume;
      this.#participant = known.participant;
      this.#region.locate(known.socketUrl);
      this.#choose(() => this.#open());
    } else if (start.with === 'ticket') {
      this.#ticket = start.ticket;
      this.#socketUrl = start.socketUrl;
      this.#region.locate(start.socketUrl);
      this.#open();
    } else this.#choose(() => this.#admit(placeOf(memory, room, clock)));
  }

  /** The origin of the API of the region that this client uses. */
  get api(): string {
    return this.#region.api;
  }

  /** Calls `then` at once where there is no other region, or the choice is made. */
  #choose(then: () => void): void {
    const abort = new AbortController();
    const choice = this.#region.choose(abort.signal);
    if (choice === undefined) {
      then();
      return;
    }
    this.#step = { at: 'choosing', abort };
    this.#notifyState();
    void choice.then((isAnother) => {
      if (abort.signal.aborted) return;
      if (isAnother) this.#socketUrl = this.#region.socketUrl;
      then();
    });
  }

  /** `false` without a connection: state (name, media, chat) is sent again after the resume. */
  send(message: ClientMessage): boolean {
    if (this.#step.at !== 'connected') return false;
    this.#step.socket.send(message);
    return true;
  }

  sendDirected(to: ParticipantId, id: string, payload: string | Uint8Array<ArrayBuffer>): boolean {
    if (this.#step.at !== 'connected') return false;
    this.#step.socket.sendDirected(to, id, payload);
    return true;
  }

  get connected(): boolean {
    return this.#step.at === 'connected';
  }

  leave(): void {
    this.send({ type: 'leave' });
    this.#end('left', { retry: false, retryAfterMs: null });
  }

  #admit(place: Place | null = null): void {
    const abort = new AbortController();
    this.#step = { at: 'admitting', abort };
    this.#notifyState();
    const { name } = this.#handlers.introduction();
    const { signal } = abort;
    // A participant of the call is not a newcomer: it needs only an address, and waits for no place.
    const returning = this.#token !== null;
    const finalCode = returning ? ('BUSY' as const) : null;
    // Between two attempts another region may turn out to answer.
    const mayMove = this.#isReturning && this.#region.hasOthers;
    const patienceMs = mayMove ? 0 : this.#patienceMs;
    const traceparent = this.#trace.next(this.api, this.#lostAt === null);
    const how = { patienceMs, signal, place, onPlace: this.#keepPlace.bind(this), finalCode, traceparent };
    const asked = { ...this.#options, ...how, api: this.api, name };
    void admit(asked, this.#ports).then((admission) => {
      if (signal.aborted) return;
      this.#turnAt = null;
      if (!admission.ok && returning && admission.reason === 'BUSY') {
        this.#open();
        return;
      }
      if (!admission.ok && mayMove && isPassing(admission.reason)) {
        this.#failures += 1;
        this.#wait(admission.retryAfterMs ?? 0, () => this.#open());
        return;
      }
      if (!admission.ok) {
        this.#end(admission.reason, admission);
        return;
      }
      const answer = admission.value;
      if (!returning) remember(this.#options.memory, null);
      this.#ticket = { text: answer.ticket, expiresAt: this.#ports.clock.now() + answer.ticketTtlMs };
      this.#socketUrl = answer.socketUrl;
      this.#region.learn(answer.regions);
      // A ticket is valid in all regions.
      if (returning) this.#open();
      else this.#choose(() => this.#open());
    });
  }

  #open(): void {
    if (this.#isReturning) this.#region.considerOthers();
    const token = this.#token;
    const ticket = this.#ticket;
    if (token === null && (ticket === null || ticket.expiresAt <= this.#ports.clock.now()))
      return this.#admit();
    const generation = (this.#generation += 1);
    this.remember();
    if (token === null) this.#handlers.onEnter();
    const first = firstMessage(token, ticket, { ...this.#handlers.introduction(), generation });
    let socket: RoomSocket;
    try {
      const handlers = {
        onMessage: (message: ServerMessage) => this.#receive(message),
        onDirected: this.#handlers.onDirected.bind(this.#handlers),
        onLost: (loss: SocketLoss) => this.#lost(loss),
      };
      const { elapsed } = this.#trace;
      const watched = { failures: this.#failures, silence: () => this.#region.silence, elapsed };
      socket = openRoomSocket(this.#socketUrl, first, this.#ports, handlers, watched);
    } catch {
      // The browser refused the address.
      this.#lost({ code: null, retryAfterMs: null });
      return;
    }
    this.#step = { at: 'opening', socket, fresh: token === null };
    this.#notifyState();
  }

  #receive(message: ServerMessage): void {
    if (message.type === 'welcome') this.#welcomed(message);
    else if (message.type === 'wait') this.#waitForTurn(message.afterMs);
    else if (message.type === 'lobby-waiting') this.#wasToldToWait(message);
    else if (message.type === 'goaway') this.#move(message.afterMs);
    else if (message.type === 'resume-token') this.#renewed(message.resume);
    else this.#handlers.onMessage(message);
  }

  /** A reload continues with the same place. */
  #keepPlace({ slot, afterMs }: Place): void {
    const untilMs = this.#ports.clock.wall() + afterMs;
    if (this.#step.at !== 'admitting') return;
    this.#region.stay();
    remember(this.#options.memory, { room: this.#options.room, slot, untilMs });
    this.#expectTurn(afterMs);
  }

  /** The pod keeps the socket in its queue, and answers pings on it. */
  #waitForTurn(afterMs: number): void {
    if (this.#step.at !== 'opening') return;
    this.#failures = 0;
    this.#region.stay();
    if (this.#ticket !== null && this.#token === null) {
      const { clock } = this.#ports;
      const untilMs = clock.wall() + this.#ticket.expiresAt - clock.now();
      const { room, memory } = this.#options;
      remember(memory, { room, ticket: this.#ticket.text, socketUrl: this.#socketUrl, untilMs });
    }
    this.#expectTurn(afterMs);
  }

  #expectTurn(afterMs: number): void {
    const { clock } = this.#ports;
    this.#turnAt = clock.wall() + afterMs;
    this.#patientSince = Math.max(this.#patientSince, clock.now() + afterMs);
    this.#notifyState();
  }

  /** A place in the lobby belongs to one socket: after its loss the client waits again, as a new participant with a new ticket. */
  #wasToldToWait(message: ServerMessage): void {
    if (this.#step.at !== 'opening') return;
    this.#step = { at: 'lobby-waiting', socket: this.#step.socket };
    this.#waiting = true;
    this.#region.stay();
    this.#turnAt = null;
    this.#ticket = null;
    remember(this.#options.memory, null);
    this.#failures = 0;
    this.#rejoins = 0;
    this.#handlers.onMessage(message);
    this.#notifyState();
  }

  #welcomed(welcome: Welcome): void {
    if (this.#step.at !== 'opening' && this.#step.at !== 'lobby-waiting') return;
    const { socket } = this.#step;
    const fresh = this.#step.at === 'lobby-waiting' || this.#step.fresh;
    this.#waiting = false;
    this.#turnAt = null;
    this.#step = { at: 'connected', socket };
    this.#token = welcome.resume;
    this.#participant = welcome.participant;
    this.#ticket = null;
    this.#failures = 0;
    this.#rejoins = 0;
    this.#lostAt = null;
    this.#region.welcomed(welcome.regions);
    this.remember();
    this.#handlers.onWelcome(welcome, { fresh });
    this.#handlers.onState({ status: 'connected', pod: welcome.pod });
  }

  /** The earlier token expires while the participant is connected. */
  #renewed(token: string): void {
    if (this.#step.at !== 'connected') return;
    this.#token = token;
    this.remember();
  }

  /** The pod drains: it serves this participant until its slot, then the client resumes on the pod that the edge chooses. */
  #move(afterMs: number): void {
    this.#cancelMove();
    this.#cancelMove = this.#region.moveAfter(afterMs, (isBack) => {
      if (isBack) this.#socketUrl = this.#region.socketUrl;
      if (this.#step.at !== 'connected' && this.#step.at !== 'lobby-waiting') return;
      this.#step.socket.close();
      if (this.#step.at === 'connected') this.#lostAt = this.#ports.clock.wall();
      this.#open();
    });
  }

  /** The region does not answer, and another one does. */
  #resumeElsewhere(): void {
    abandon(this.#step);
    this.#socketUrl = this.#region.socketUrl;
    this.#failures = 0;
    this.#turnAt = null;
    this.#open();
  }

  #lost(loss: SocketLoss): void {
    if (this.#step.at === 'ended') return;
    const wasConnected = this.#step.at === 'connected';
    if (wasConnected) this.#lostAt = this.#ports.clock.wall();
    else this.#failures += 1;
    this.#turnAt = null;
    this.#cancelMove();
    const next = afterLoss(loss);
    switch (next.do) {
      case 'end':
        this.#end(next.reason, next);
        return;
      case 'rejoin':
        this.#ticket = null;
        this.#token = null;
        this.#participant = null;
        this.#rejoins += 1;
        remember(this.#options.memory, null);
        if (this.#rejoins > REJOINS_IN_A_ROW && loss.code !== null) {
          this.#end(loss.code, { retry: true, retryAfterMs: null });
        } else this.#wait(loss.retryAfterMs ?? 0, () => this.#admit());
        return;
      case 'again':
        this.#retry(loss);
        return;
      default:
        next satisfies never;
    }
  }

  #retry(loss: SocketLoss): void {
    if (this.#patienceMs < 0) {
      this.#end(loss.code ?? 'unreachable', { retry: true, retryAfterMs: loss.retryAfterMs });
      return;
    }
    const otherAddress = this.#failures > 0 && this.#failures % SOCKET_TRIES_PER_ADDRESS === 0;
    if (otherAddress && !this.#isReturning) this.#region.regretChoice();
    // Where the region is known, so is its address.
    const knowsAddress = this.#token !== null && this.#region.hasOthers;
    if (otherAddress && knowsAddress) this.#socketUrl = this.#region.socketUrl;
    const admits = otherAddress && !knowsAddress;
    this.#wait(loss.retryAfterMs ?? 0, () => (admits ? this.#admit() : this.#open()));
  }

  /** To the room, or to its lobby. */
  get #isReturning(): boolean {
    return this.#lostAt !== null || this.#waiting;
  }

  /** Only a first join has a time limit: a participant who was in the room or waits in the lobby reconnects for as long as it takes. */
  get #patienceMs(): number {
    if (this.#isReturning) return Number.POSITIVE_INFINITY;
    return FIRST_JOIN_PATIENCE_MS - (this.#ports.clock.now() - this.#patientSince);
  }

  #wait(atLeastMs: number, then: () => void): void {
    const wait = waitBeforeRetry({ failures: this.#failures, atLeastMs }, this.#ports, then);
    this.#step = { at: 'waiting', wait };
    this.#notifyState();
  }

  #networkChanged(): void {
    const online = this.#ports.network.online();
    if (this.#step.at === 'connected' || this.#step.at === 'lobby-waiting') this.#step.socket.probe();
    if (this.#step.at === 'waiting' && online) this.#step.wait.go();
    else this.#notifyState();
  }

  #notifyState(): void {
    if (this.#step.at === 'connected' || this.#step.at === 'ended') return;
    const [lostAt, waiting, turnAtMs] = [this.#lostAt, this.#waiting, this.#turnAt];
    const [offline, movingTo] = [!this.#ports.network.online(), this.#region.movingTo];
    this.#handlers.onState(stateOf({ lostAt, waiting, turnAtMs, offline, movingTo }));
  }

  remember(): void {
    if (this.#token === null || this.#participant === null) return;
    remember(this.#options.memory, {
      room: this.#options.room,
      participant: this.#participant,
      generation: this.#generation,
      resume: this.#token,
      socketUrl: this.#socketUrl,
      hand: this.#handlers.introduction().media.hand ?? 0,
    });
  }

  #end(reason: EndReason, { retry, retryAfterMs }: { retry: boolean; retryAfterMs: number | null }): void {
    const step = this.#step;
    if (step.at === 'ended') return;
    this.#step = { at: 'ended' };
    abandon(step);
    this.#cancelMove();
    this.#region.stay();
    this.#stopListening();
    remember(this.#options.memory, null);
    this.#handlers.onState({ status: 'ended', reason, retry, retryAfterMs });
  }
}
