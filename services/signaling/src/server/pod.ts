/** The shell around the core: it holds sockets, bus and timer, gives the core its inputs and carries out its effects, in order. */
import { performance } from 'node:perf_hooks';
import type { Logger } from 'pino';
import type { Enter, Resume } from '@parley/protocol/client-messages';
import type { Code } from '@parley/protocol/codes';
import type { RoomView } from '@parley/protocol/http';
import type { ParticipantId } from '@parley/protocol/ids';
import { checkName } from '@parley/protocol/people';
import { createCore, type Core } from '../core/core.ts';
import type { Effect, SocketId } from '../core/effects.ts';
import type { Input } from '../core/input.ts';
import type { Bus, BusListener } from '../core/ports.ts';
import type { Tokens } from '../adapters/tokens.ts';
import { iceServersFor } from '../adapters/turn-credentials.ts';
import type { Config } from './config.ts';
import type { Connection, Host } from './connection.ts';
import { Metrics } from './metrics.ts';

export interface PodParts {
  readonly config: Config;
  readonly log: Logger;
  readonly tokens: Tokens;
  /** What is known of a room at the door, or why nobody may enter. */
  readonly viewRoom: (room: string) => Promise<{ ok: true; view: RoomView } | { ok: false; code: Code }>;
  readonly openBus: (listener: BusListener) => Bus;
}

export class SignalingPod implements Host {
  readonly limits: Config['limits'];
  readonly metrics: Metrics;
  readonly core: Core;
  readonly #parts: PodParts;
  readonly #bus: Bus;
  readonly #connections = new Map<SocketId, Connection>();
  readonly #perAddress = new Map<string, number>();
  readonly #pings: NodeJS.Timeout;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;
  #draining = false;
  #closed = false;

  constructor(parts: PodParts) {
    const { config } = parts;
    this.#parts = parts;
    this.limits = config.limits;
    this.core = createCore({
      pod: config.pod,
      boot: Date.now(),
      limits: config.limits,
      now: this.now(),
      random: Math.random,
    });
    this.metrics = new Metrics(() => ({ ...this.core.counts(), connections: this.#connections.size }));
    this.#bus = parts.openBus({
      onMessage: (message) => this.handle({ type: 'bus', message }),
      onTransfer: (transfer) => {
        this.metrics.directedIn += 1;
        this.handle({ type: 'transfer', transfer });
      },
      onBack: () => this.handle({ type: 'bus-back' }),
    });
    this.#pings = setInterval(() => {
      for (const connection of this.#connections.values()) connection.checkAlive();
    }, this.limits['socket.pingInterval']);
    this.#arm();
  }

  now(): number {
    return performance.now();
  }

  get isReady(): boolean {
    return !this.#draining && this.#bus.isConnected() && this.core.ready();
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  get socketCount(): number {
    return this.#connections.size;
  }

  socketsOf(address: string): number {
    return this.#perAddress.get(address) ?? 0;
  }

  accept(connection: Connection): void {
    this.#connections.set(connection.id, connection);
    this.#perAddress.set(connection.address, this.socketsOf(connection.address) + 1);
  }

  closed(connection: Connection): void {
    this.#connections.delete(connection.id);
    const left = this.socketsOf(connection.address) - 1;
    if (left > 0) this.#perAddress.set(connection.address, left);
    else this.#perAddress.delete(connection.address);
    this.handle({ type: 'lost', socket: connection.id });
  }

  handle(input: Input): void {
    // Sockets end after the pod has: nobody is to hear of it any more, and no timer is to start again.
    if (this.#closed) return;
    this.#carryOut(this.core.handle(input, this.now()));
    this.#arm();
  }

  async admit(connection: Connection, message: Enter | Resume): Promise<Code | undefined> {
    const { tokens, viewRoom, log } = this.#parts;
    const name = checkName(message.name, this.limits['name.chars']);
    if (name === undefined) return 'NAME_INVALID';
    const verified =
      message.type === 'enter'
        ? await tokens.verifyTicket(message.ticket)
        : await tokens.verifyResume(message.token);
    const kind = message.type === 'enter' ? 'TICKET' : 'RESUME';
    if (!verified.ok) return verified.why === 'expired' ? `${kind}_EXPIRED` : `${kind}_INVALID`;
    const { sub: participant, room } = verified.claims;
    if (room !== connection.room) return `${kind}_INVALID`;
    const known = await viewRoom(room);
    if (!known.ok) return known.code;
    const { generation } = message;
    const since = 'since' in verified.claims ? verified.claims.since : Date.now();
    const claims = { sub: participant, room, generation, since };
    const token = await tokens.signResume(claims, this.limits['resume.ttl']);
    if (!connection.isEntering) return undefined;
    const arrival = {
      socket: connection.id,
      view: known.view,
      participant,
      generation,
      name,
      media: message.media,
      token,
    };
    const tokenGeneration = 'generation' in verified.claims ? verified.claims.generation : 0;
    const tokenAgeMs = Date.now() - (verified.claims.exp * 1000 - this.limits['resume.ttl']);
    if (message.type === 'enter') this.handle({ type: 'join', ...arrival });
    else this.handle({ type: 'resume', ...arrival, tokenGeneration, tokenAgeMs, since, chat: message.chat });
    this.metrics.arrivals.inc({ kind: message.type });
    log.info({ trace: connection.trace, room, participant, generation, kind: message.type }, 'arrived');
    return undefined;
  }

  iceServers(participant: ParticipantId) {
    const ttlMs = this.limits['turn.ttl'];
    const iceServers = iceServersFor(participant, { ...this.#parts.config.turn, ttlMs }, Date.now());
    return { type: 'ice' as const, iceServers, ttlS: Math.floor(ttlMs / 1000) };
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
        return this.#bus.tellRoom(effect.room, effect.message);
      case 'tell-pod':
        return this.#bus.tellPod(effect.pod, effect.message);
      case 'beat':
        return this.#bus.beat(effect.message);
      case 'transfer':
        this.metrics.directedOut += 1;
        return this.#bus.transfer(effect.pod, effect.transfer);
      default:
        return effect satisfies never;
    }
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

  /** One timer, for whatever the core wants next. */
  #arm(): void {
    const next = this.core.nextWake() ?? Infinity;
    if (next === this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = next;
    if (next === Infinity) return;
    this.#timer = setTimeout(
      () => {
        this.#timerAt = Infinity;
        this.#carryOut(this.core.wake(this.now()));
        this.#arm();
      },
      Math.max(0, Math.ceil(next - this.now())),
    );
  }

  /** Sends everyone elsewhere, a batch at a time, so that the other pods are not stormed. SPEC rule RES-8. */
  async drain(): Promise<void> {
    this.#draining = true;
    const everyone = [...this.#connections.values()];
    for (let at = 0; at < everyone.length; at += DRAIN_BATCH) {
      const batch = everyone.slice(at, at + DRAIN_BATCH);
      for (const connection of batch) {
        connection.say({ type: 'go-elsewhere', afterMs: Math.round(Math.random() * DRAIN_EVERY_MS) });
        connection.end('GO_ELSEWHERE');
      }
      await new Promise((resolve) => setTimeout(resolve, DRAIN_EVERY_MS));
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#pings);
    clearTimeout(this.#timer);
    this.#closed = true;
    for (const connection of this.#connections.values()) connection.end('GO_ELSEWHERE');
    await this.#bus.close();
  }
}

/** 500 sockets in 2 s. */
const DRAIN_BATCH = 50;
const DRAIN_EVERY_MS = 200;
