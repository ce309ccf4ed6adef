/**
 * The connection to a room: admission, one socket at a time, the lobby, resume and rejoin. The order matters: the generation is raised and stored
 * before every socket, so that no two sockets of one participant ever have the same one, not even across a reload.
 */
import type { ClientMessage } from '@parley/protocol/client-messages';
import type { ParticipantId } from '@parley/protocol/ids';
import type { ResumeChatLine, Media } from '@parley/protocol/people';
import type { ServerMessage, Welcome } from '@parley/protocol/server-messages';
import { admit } from './admission.ts';
import { backoff } from '../net/backoff.ts';
import type { Place } from '../net/request.ts';
import type { SocketLoss } from '../net/socket.ts';
import type { CallConnection, CallOptions, EndReason } from '../call.ts';
import { afterLoss } from './ladder.ts';
import { recall, recallPlace, recallTicket, remember } from './memory.ts';
import type { Ports } from '../ports.ts';
import { openRoomSocket, type RoomSocket } from './socket.ts';

export interface ConnectionHandlers {
  onState(state: CallConnection): void;
  /** `fresh`: a new participant; otherwise the same one as before. */
  onWelcome(welcome: Welcome, how: { readonly fresh: boolean }): void;
  onMessage(message: ServerMessage): void;
  onDirected(from: ParticipantId, payload: string | Uint8Array<ArrayBuffer>): void;
  /** The part of a socket's first message that describes this participant. */
  introduction(): { readonly name: string; readonly media: Media; readonly chat: ResumeChatLine[] };
}

type Step =
  | { readonly at: 'idle' }
  | { readonly at: 'admitting'; readonly abort: AbortController }
  | { readonly at: 'opening'; readonly socket: RoomSocket; readonly fresh: boolean }
  | { readonly at: 'lobby-waiting'; readonly socket: RoomSocket }
  | { readonly at: 'connected'; readonly socket: RoomSocket }
  | { readonly at: 'waiting'; readonly cancel: () => void; readonly go: () => void }
  | { readonly at: 'ended' };

type Ticket = { readonly text: string; readonly expiresAt: number };

/** A first join that takes longer fails, and the user may try again; a recovery continues until the user leaves. */
const FIRST_JOIN_PATIENCE_MS = 20_000;
/** A socket address that failed this often may name a pod that has ended: admission returns another. */
const SOCKET_TRIES_PER_ADDRESS = 3;
/** Devices report being offline wrongly often enough that the client still tries at this interval. */
const OFFLINE_RETRY_MS = 15_000;
/** Repeated refusals of tickets and resume tokens are a fault: the call ends, and the user decides. */
const REJOINS_IN_A_ROW = 3;
/** A place that is remembered for longer is a fault, of the clock of the device for example. */
const LONGEST_PLACE_MS = 600_000;

export class Connection {
  readonly #options: CallOptions;
  readonly #ports: Ports;
  readonly #handlers: ConnectionHandlers;
  readonly #stopListening: () => void;
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
    this.#stopListening = ports.network.subscribe(() => this.#networkChanged());
  }

  start(): void {
    const known = recall(this.#options.memory, this.#options.room);
    if (known === null) {
      this.#startAnew();
      return;
    }
    this.#generation = known.generation;
    this.#socketUrl = known.socketUrl;
    this.#token = known.resume;
    this.#participant = known.participant;
    this.#open();
  }

  /** With what a reload interrupted: the ticket of an `enter` that waited, or a place for a join. */
  #startAnew(): void {
    const { memory, room } = this.#options;
    const { clock } = this.#ports;
    const waited = recallTicket(memory, room);
    const leftMs = (waited?.untilMs ?? 0) - clock.wall();
    if (waited !== null && leftMs > 0 && leftMs <= LONGEST_PLACE_MS) {
      this.#ticket = { text: waited.ticket, expiresAt: clock.now() + leftMs };
      this.#socketUrl = waited.socketUrl;
      this.#open();
      return;
    }
    const place = recallPlace(memory, room);
    const afterMs = Math.max(0, (place?.untilMs ?? 0) - clock.wall());
    this.#admit(place !== null && afterMs <= LONGEST_PLACE_MS ? { slot: place.slot, afterMs } : null);
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
    const onPlace = (kept: Place): void => this.#keepPlace(kept);
    const asked = { ...this.#options, name, patienceMs: this.#patienceMs, signal, place, onPlace, finalCode };
    void admit(asked, this.#ports).then((admission) => {
      if (signal.aborted) return;
      this.#turnAt = null;
      if (!admission.ok && returning && admission.reason === 'BUSY') {
        this.#open();
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
      this.#open();
    });
  }

  #open(): void {
    const { name, media, chat } = this.#handlers.introduction();
    const token = this.#token;
    const ticket = this.#ticket;
    if (token === null && (ticket === null || ticket.expiresAt <= this.#ports.clock.now())) {
      this.#admit();
      return;
    }
    this.#generation += 1;
    this.#remember();
    const generation = this.#generation;
    const first =
      token === null
        ? ({ type: 'enter', ticket: ticket?.text ?? '', generation, name, media } as const)
        : ({ type: 'resume', token, generation, name, media, chat } as const);
    let socket: RoomSocket;
    try {
      const handlers = {
        onMessage: (message: ServerMessage) => this.#receive(message),
        onDirected: this.#handlers.onDirected.bind(this.#handlers),
        onLost: (loss: SocketLoss) => this.#lost(loss),
      };
      socket = openRoomSocket(this.#socketUrl, first, this.#ports, handlers, this.#failures);
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
    remember(this.#options.memory, { room: this.#options.room, slot, untilMs });
    this.#expectTurn(afterMs);
  }

  /** The pod keeps the socket in its queue, and answers pings on it. */
  #waitForTurn(afterMs: number): void {
    if (this.#step.at !== 'opening') return;
    this.#failures = 0;
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
    this.#remember();
    this.#handlers.onWelcome(welcome, { fresh });
    this.#handlers.onState({ status: 'connected', pod: welcome.pod });
  }

  /** The earlier token expires while the participant is connected. */
  #renewed(token: string): void {
    if (this.#step.at !== 'connected') return;
    this.#token = token;
    this.#remember();
  }

  /** The pod drains: it serves this participant until its slot, then the client resumes on the pod that the edge chooses. */
  #move(afterMs: number): void {
    this.#cancelMove();
    this.#cancelMove = this.#ports.clock.after(afterMs, () => {
      if (this.#step.at !== 'connected' && this.#step.at !== 'lobby-waiting') return;
      this.#step.socket.close();
      if (this.#step.at === 'connected') this.#lostAt = this.#ports.clock.wall();
      this.#open();
    });
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
    this.#wait(loss.retryAfterMs ?? 0, () => (otherAddress ? this.#admit() : this.#open()));
  }

  /** Only a first join has a time limit: a participant who was in the room or waits in the lobby reconnects for as long as it takes. */
  get #patienceMs(): number {
    if (this.#lostAt !== null || this.#waiting) return Number.POSITIVE_INFINITY;
    return FIRST_JOIN_PATIENCE_MS - (this.#ports.clock.now() - this.#patientSince);
  }

  #wait(atLeastMs: number, then: () => void): void {
    const jittered = atLeastMs + backoff(this.#failures, this.#ports.random);
    const ms = this.#ports.network.online() ? jittered : Math.max(jittered, OFFLINE_RETRY_MS);
    let gone = false;
    const go = (): void => {
      if (gone) return;
      gone = true;
      cancel();
      then();
    };
    const cancel = this.#ports.clock.after(ms, go);
    this.#step = { at: 'waiting', cancel, go };
    this.#notifyState();
  }

  #networkChanged(): void {
    const online = this.#ports.network.online();
    if (this.#step.at === 'connected' || this.#step.at === 'lobby-waiting') this.#step.socket.probe();
    if (this.#step.at === 'waiting' && online) this.#step.go();
    else this.#notifyState();
  }

  /** Before the first welcome the state is `joining`, `arriving` or `lobby-waiting`; afterwards it is `recovering` until the end. */
  #notifyState(): void {
    if (this.#step.at === 'connected' || this.#step.at === 'ended') return;
    const offline = !this.#ports.network.online();
    if (this.#waiting) this.#handlers.onState({ status: 'lobby-waiting', offline });
    else if (this.#lostAt !== null)
      this.#handlers.onState({
        status: 'recovering',
        sinceMs: this.#lostAt,
        offline,
        turnAtMs: this.#turnAt,
      });
    else if (this.#turnAt !== null) this.#handlers.onState({ status: 'arriving', turnAtMs: this.#turnAt });
    else this.#handlers.onState({ status: 'joining' });
  }

  #remember(): void {
    if (this.#token === null || this.#participant === null) return;
    remember(this.#options.memory, {
      room: this.#options.room,
      participant: this.#participant,
      generation: this.#generation,
      resume: this.#token,
      socketUrl: this.#socketUrl,
    });
  }

  #end(reason: EndReason, { retry, retryAfterMs }: { retry: boolean; retryAfterMs: number | null }): void {
    const step = this.#step;
    if (step.at === 'ended') return;
    this.#step = { at: 'ended' };
    if (step.at === 'admitting') step.abort.abort();
    if (step.at === 'opening' || step.at === 'lobby-waiting' || step.at === 'connected') step.socket.close();
    if (step.at === 'waiting') step.cancel();
    this.#cancelMove();
    this.#stopListening();
    remember(this.#options.memory, null);
    this.#handlers.onState({ status: 'ended', reason, retry, retryAfterMs });
  }
}
