/** The shell around the pages of a pod: holds its visitors' sockets, bus and timer, gives the core its inputs and carries out its effects. */
import { randomBytes } from 'node:crypto';
import type { IceOffer } from '@parley/protocol/http';
import { pipeTopic, type PageLimits, type VisitorId } from '@parley/protocol/pages';
import type { Tokens } from '../adapters/tokens.ts';
import { AddressBuckets } from '../core/buckets.ts';
import type { SocketId } from '../core/socket-id.ts';
import type { PageEffect, PageInput } from '../core/pages/effects.ts';
import { createPages, type Pages } from '../core/pages/pages.ts';
import type { PageBus, PageListener } from '../core/ports.ts';
import { Alarm } from './alarm.ts';
import type { Budgets } from './budgets.ts';
import type { Config } from './config.ts';
import type { Metrics } from './metrics.ts';
import type { TurnDesk } from './turn-desk.ts';
import type { PageHost, VisitorConnection } from './visitor-connection.ts';
import { networkOf } from './visitor-marks.ts';

export interface PageDeskParts {
  readonly config: Config;
  readonly tokens: Tokens;
  readonly metrics: Metrics;
  readonly budgets: Budgets;
  /** What costs a signature, for each address. */
  readonly boot: number;
  readonly openPages: (listener: PageListener) => PageBus;
  readonly turn: Pick<TurnDesk, 'offer' | 'stunServers' | 'takeRequest'>;
  readonly now: () => number;
  readonly onClosed: (connection: VisitorConnection) => void;
}

/** More than a page takes on the slowest way. */
const PIPE_TOKEN_MS = 3_600_000;
const RANDOM_BYTES = 9;

export class PageDesk implements PageHost {
  readonly limits: Config['limits'];
  readonly metrics: Metrics;
  readonly budgets: Budgets;
  readonly #parts: PageDeskParts;
  readonly #core: Pages;
  readonly #bus: PageBus;
  readonly #alarm: Alarm;
  readonly #requests: AddressBuckets;
  readonly #visitors = new Map<SocketId, VisitorConnection>();
  #closed = false;

  constructor(parts: PageDeskParts) {
    const { config, boot, now } = parts;
    const { limits, pod } = config;
    this.limits = limits;
    this.metrics = parts.metrics;
    this.budgets = parts.budgets;
    this.#parts = parts;
    this.#core = createPages({ pod, boot, limits, now: now(), random: Math.random });
    this.#requests = new AddressBuckets(limits['address.pages'] / 60, limits['address.pages'], now());
    this.#alarm = new Alarm(now, () => {
      this.#carryOut(this.#core.wake(now()));
      this.#arm();
    });
    this.#bus = parts.openPages({
      onMessage: (message) => this.handle({ type: 'bus', message }),
      onTransfer: (transfer) => {
        this.metrics.directedIn += 1;
        this.handle({ type: 'transfer', transfer });
      },
      onBack: () => this.handle({ type: 'bus-back' }),
    });
    this.#arm();
  }

  now(): number {
    return this.#parts.now();
  }

  counts(): ReturnType<Pages['counts']> {
    return this.#core.counts();
  }

  accept(connection: VisitorConnection): void {
    this.#visitors.set(connection.id, connection);
    const network = networkOf(connection.address);
    this.handle({ type: 'arrive', socket: connection.id, network, random: randomBytes(RANDOM_BYTES) });
  }

  closed(connection: VisitorConnection): void {
    if (this.#visitors.delete(connection.id)) this.handle({ type: 'lost', socket: connection.id });
    this.#parts.onClosed(connection);
  }

  handle(input: PageInput): void {
    // Sockets end after the pod has: nobody is to hear of it any more, and no timer is to start again.
    if (this.#closed) return;
    this.#carryOut(this.#core.handle(input, this.now()));
    this.#arm();
  }

  iceOffer(visitor: VisitorId, address: string): IceOffer {
    return this.#parts.turn.offer(visitor, address);
  }

  takeIceRequest(address: string): number | undefined {
    return this.#parts.turn.takeRequest(address);
  }

  pipeToken(visitor: VisitorId, pipe: string): string {
    const topics = [pipeTopic(pipe)];
    return this.#parts.tokens.signPipe({ sub: visitor, publish: topics, subscribe: topics }, PIPE_TOKEN_MS);
  }

  takeRequest(address: string): number | undefined {
    return this.#requests.take(address, this.now());
  }

  /** Its visitors are about to be sent elsewhere: the other pods call no page gone until they have come. */
  announceLeaving(): void {
    this.handle({ type: 'leaving' });
  }

  announceLeft(): void {
    this.handle({ type: 'left' });
  }

  close(): void {
    this.#closed = true;
    this.#alarm.cancel();
  }

  #arm(): void {
    this.#alarm.set(this.#core.nextWake());
  }

  #carryOut(effects: readonly PageEffect[]): void {
    for (const effect of effects) this.#do(effect);
  }

  #do(effect: PageEffect): void {
    switch (effect.type) {
      case 'say':
        return this.#say(effect);
      case 'arrived':
        return this.#arrived(effect);
      case 'refuse':
        return this.#visitors.get(effect.socket)?.refuse(effect.code, effect.page);
      case 'hand-on':
        return this.#handOn(effect);
      case 'listen':
        return this.#bus.listen(effect.page);
      case 'stop-listening':
        return this.#bus.stopListening(effect.page);
      case 'tell-page':
        return this.#bus.publish(effect.page, effect.message);
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

  #handOn({ socket, from, payload, binary, taken, slow }: PageEffect & { type: 'hand-on' }): void {
    this.metrics.directedHere += 1;
    const next = this.#visitors.get(socket)?.handOn(from, payload, binary) ? taken : slow;
    if (next !== undefined) this.#do(next);
  }

  #arrived({ socket, visitor, visitors }: PageEffect & { type: 'arrived' }): void {
    this.#visitors.get(socket)?.arrived(visitor, {
      type: 'arrived',
      visitor,
      pod: this.#parts.config.pod,
      iceServers: this.#parts.turn.stunServers(visitor),
      limits: limitsToKeep(this.limits),
      visitors,
    });
  }

  #say({ sockets, message }: PageEffect & { type: 'say' }): void {
    if (message.type === 'undelivered') this.metrics.undelivered.inc({ reason: message.reason });
    const text = JSON.stringify(message);
    for (const socket of sockets) this.#visitors.get(socket)?.sayText(text);
  }
}

const limitsToKeep = (limits: Config['limits']): PageLimits => ({
  pageBytes: limits['page.bytes'],
  chunkBytes: limits['page.chunkBytes'],
  perVisitor: limits['page.perVisitor'],
  asked: limits['page.asked'],
  served: limits['page.served'],
  memoryBytes: limits['page.memory'],
  messageBytes: limits['message.bytes'],
});
