/**
 * The connection to a room: admission, its socket, the lobby, resume and rejoin. The order matters: the generation is raised and stored before
 * every socket, so that no two sockets of one participant ever have the same one, not even across a reload.
 */
import type { ClientMessage } from '@parley/protocol/client-messages';
import type { ParticipantId } from '@parley/protocol/ids';
import type { ServerMessage, Welcome } from '@parley/protocol/server-messages';
import { Absence } from './absence.ts';
import { admit } from './admission.ts';
import type { Place } from '../net/request.ts';
import type { SocketLoss } from '../net/socket.ts';
import type { CallOptions, EndReason } from '../call.ts';
import { afterLoss, isPassing } from './ladder.ts';
import { joinTrace, type JoinTrace } from './join-trace.ts';
import { remember, rememberTicket } from './memory.ts';
import { RegionOfCall } from './region-of-call.ts';
import { waitBeforeRetry } from './retry-wait.ts';
import { firstMessage, placeOf, startOf, type Ticket } from './start.ts';
import type { ConnectionHandlers } from './state.ts';
import { abandon, type Step } from './step.ts';
import type { Ports } from '../ports.ts';
import { openRoomSocket, type RoomSocket } from './socket.ts';

/** A socket address that failed this often may name a pod that has ended: admission returns another. */
const SOCKET_TRIES_PER_ADDRESS = 3;
/** Repeated refusals of tickets and resume tokens are a fault: the call ends, and the user decides. */
const REJOINS_IN_A_ROW = 3;
/** A pod learns of the next socket of its participant within this time. */
const OLD_MS = 1000;

export class Connection {
  readonly #options: CallOptions;
  readonly #ports: Ports;
  readonly #handlers: ConnectionHandlers;
  readonly #stopListening: () => void;
  readonly #region: RegionOfCall;
  readonly #trace: JoinTrace;
  readonly #absence: Absence;
  #step: Step = { at: 'idle' };
  #generation = 0;
  #socketUrl = '';
  #ticket: Ticket | null = null;
  #token: string | null = null;
  #participant: ParticipantId | null = null;
  /** Failed sockets since the last welcome. */
  #failures = 0;
  #rejoins = 0;
  #cancelMove: () => void = () => undefined;
  /** To a pod that drains, until that closes it (RES-5): closed by us before, it would show this participant as away for a moment. */
  #old: RoomSocket | null = null;

  constructor(options: CallOptions, ports: Ports, handlers: ConnectionHandlers) {
    this.#options = options;
    this.#ports = ports;
    this.#handlers = handlers;
    this.#absence = new Absence(ports.clock);
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

  /** The newest resume token; `null` before the welcome. */
  get token(): string | null {
    return this.#token;
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
    this.#old?.send({ type: 'leave' });
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
    const mayMove = this.#absence.isReturning && this.#region.hasOthers;
    const patienceMs = mayMove ? 0 : this.#absence.patienceMs;
    const traceparent = this.#trace.next(this.api, this.#absence.isFirst);
    const how = { patienceMs, signal, place, onPlace: this.#keepPlace.bind(this), finalCode, traceparent };
    const asked = { ...this.#options, ...how, api: this.api, name };
    void admit(asked, this.#ports).then((admission) => {
      if (signal.aborted) return;
      this.#absence.forgetTurn();
      if (!admission.ok && returning && admission.reason === 'BUSY') {
        this.#open();
        return;
      }
      if (!admission.ok && mayMove && isPassing(admission.reason)) {
        this.#failures += 1;
        this.#wait(admission.retryAfterMs ?? 0, () => this.#open());
        return;
      }
      if (!admission.ok) return this.#end(admission.reason, admission);
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
    if (this.#absence.isReturning) this.#region.considerOthers();
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
        onMessage: (message: ServerMessage) => this.#receive(message, socket === this.#old),
        onDirected: this.#handlers.onDirected.bind(this.#handlers),
        onLost: (loss: SocketLoss) => (socket === this.#old ? this.#lostOld(loss) : this.#lost(loss)),
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

  #receive(message: ServerMessage, fromOld: boolean): void {
    if (fromOld) return this.#step.at === 'connected' ? undefined : this.#handlers.onMessage(message);
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
    if (this.#ticket !== null && this.#token === null)
      rememberTicket(this.#options, { ...this.#ticket, socketUrl: this.#socketUrl }, this.#ports.clock);
    this.#expectTurn(afterMs);
  }

  #expectTurn(afterMs: number): void {
    this.#absence.expectTurn(afterMs);
    this.#notifyState();
  }

  /** A place in the lobby belongs to one socket: after its loss the client waits again, as a new participant with a new ticket. */
  #wasToldToWait(message: ServerMessage): void {
    if (this.#step.at !== 'opening') return;
    this.#step = { at: 'lobby-waiting', socket: this.#step.socket };
    this.#absence.waitInLobby();
    this.#region.stay();
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
    if (this.#old !== null) this.#cancelMove = this.#ports.clock.after(OLD_MS, () => this.#closeOld());
    this.#absence.end();
    this.#step = { at: 'connected', socket };
    this.#token = welcome.resume;
    this.#participant = welcome.participant;
    this.#ticket = null;
    this.#failures = 0;
    this.#rejoins = 0;
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
      if (this.#step.at === 'connected') {
        this.#closeOld();
        this.#old = this.#step.socket;
        this.#absence.begin();
      } else if (this.#step.at === 'lobby-waiting') this.#step.socket.close();
      else return;
      this.#open();
    });
  }

  #lostOld(loss: SocketLoss): void {
    this.#old = null;
    // By our own next socket, whose welcome has come or is on its way.
    if (loss.code === 'REPLACED' || this.#step.at === 'connected') return;
    const next = afterLoss(loss);
    if (next.do === 'end') this.#end(next.reason, next);
    else this.#absence.begin();
    this.#notifyState();
  }

  #closeOld(): void {
    this.#old?.close();
    this.#old = null;
  }

  /** The region does not answer, and another one does. */
  #resumeElsewhere(): void {
    abandon(this.#step);
    this.#closeOld();
    this.#socketUrl = this.#region.socketUrl;
    this.#failures = 0;
    this.#absence.forgetTurn();
    this.#open();
  }

  #lost(loss: SocketLoss): void {
    if (this.#step.at === 'ended') return;
    if (this.#step.at === 'connected') {
      this.#absence.begin();
      this.#closeOld();
    } else this.#failures += 1;
    this.#absence.forgetTurn();
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
        this.#closeOld();
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
    if (this.#absence.patienceMs < 0)
      return this.#end(loss.code ?? 'unreachable', { retry: true, retryAfterMs: loss.retryAfterMs });
    const otherAddress = this.#failures > 0 && this.#failures % SOCKET_TRIES_PER_ADDRESS === 0;
    if (otherAddress && !this.#absence.isReturning) this.#region.regretChoice();
    // Where the region is known, so is its address.
    const knowsAddress = this.#token !== null && this.#region.hasOthers;
    if (otherAddress && knowsAddress) this.#socketUrl = this.#region.socketUrl;
    const admits = otherAddress && !knowsAddress;
    this.#wait(loss.retryAfterMs ?? 0, () => (admits ? this.#admit() : this.#open()));
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
    if (this.#step.at === 'connected' || this.#step.at === 'ended' || this.#old !== null) return;
    const [offline, movingTo] = [!this.#ports.network.online(), this.#region.movingTo];
    this.#handlers.onState(this.#absence.state({ offline, movingTo }));
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
    this.#closeOld();
    this.#cancelMove();
    this.#region.stay();
    this.#stopListening();
    remember(this.#options.memory, null);
    this.#handlers.onState({ status: 'ended', reason, retry, retryAfterMs });
  }
}
