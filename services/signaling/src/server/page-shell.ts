/** The shell around the core of pages: opens its bus and serves the sockets of visitors. */
import { randomBytes } from 'node:crypto';
import type { IceOffer } from '@parley/protocol/http';
import { pipeTopic, type VisitorId } from '@parley/protocol/pages';
import type { Tokens } from '../adapters/tokens.ts';
import { AddressBuckets } from '../core/buckets.ts';
import type { SocketId } from '../core/socket-id.ts';
import type { PageEffect, PageInput } from '../core/pages/effects.ts';
import { createPages, type Pages } from '../core/pages/pages.ts';
import type { PageBus, PageListener } from '../core/ports.ts';
import type { Budgets } from './budgets.ts';
import type { Config } from './config.ts';
import { CoreRunner } from './core-runner.ts';
import type { Metrics } from './metrics.ts';
import { carryOutPageEffect } from './page-effects.ts';
import type { IceOffers } from './ice-offers.ts';
import type { PageHost, VisitorConnection } from './visitor-connection.ts';
import { networkOf } from './visitor-marks.ts';

export interface PageShellParts {
  readonly config: Config;
  readonly tokens: Tokens;
  readonly metrics: Metrics;
  readonly budgets: Budgets;
  readonly boot: number;
  readonly openPages: (listener: PageListener) => PageBus;
  readonly turn: Pick<IceOffers, 'offer' | 'stunServers' | 'takeRequest'>;
  readonly now: () => number;
  readonly onClosed: (connection: VisitorConnection) => void;
}

/** Longer than the transfer of a page over the slowest link. */
const PIPE_TOKEN_MS = 3_600_000;
const RANDOM_BYTES = 9;

export class PageShell implements PageHost {
  readonly limits: Config['limits'];
  readonly metrics: Metrics;
  readonly budgets: Budgets;
  readonly #parts: PageShellParts;
  readonly #core: Pages;
  readonly #runner: CoreRunner<PageInput, PageEffect>;
  readonly #requests: AddressBuckets;
  readonly #visitors = new Map<SocketId, VisitorConnection>();

  constructor(parts: PageShellParts) {
    const { config, boot, now } = parts;
    const { limits, pod } = config;
    this.limits = limits;
    this.metrics = parts.metrics;
    this.budgets = parts.budgets;
    this.#parts = parts;
    this.#core = createPages({ pod, boot, limits, now: now(), random: Math.random });
    this.#requests = new AddressBuckets(limits['address.pages'] / 60, limits['address.pages'], now());
    const bus = parts.openPages({
      onMessage: (message) => this.handle({ type: 'bus', message }),
      onTransfer: (transfer) => {
        this.metrics.directedIn += 1;
        this.handle({ type: 'transfer', transfer });
      },
      onBack: () => this.handle({ type: 'bus-back' }),
    });
    const { metrics, turn } = parts;
    const effects = { pod, limits, bus, visitors: this.#visitors, metrics, turn };
    this.#runner = new CoreRunner({
      core: this.#core,
      now,
      carryOut: (effect) => carryOutPageEffect(effects, effect),
    });
    this.#runner.start();
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
    this.#runner.handle(input);
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

  /** The visitors are about to be sent to other pods, which consider no page gone until those have arrived. */
  announceLeaving(): void {
    this.handle({ type: 'draining' });
  }

  announceLeft(): void {
    this.handle({ type: 'left' });
  }

  close(): void {
    this.#runner.close();
  }
}
