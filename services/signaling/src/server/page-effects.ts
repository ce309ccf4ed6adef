/** Carries out the effects of the core of pages: on the sockets of visitors and on the bus. */
import type { PageLimits } from '@parley/protocol/pages';
import type { PodId } from '@parley/protocol/ids';
import type { PageEffect } from '../core/pages/effects.ts';
import type { PageBus } from '../core/ports.ts';
import type { SocketId } from '../core/socket-id.ts';
import type { Config } from './config.ts';
import type { Metrics } from './metrics.ts';
import type { IceOffers } from './ice-offers.ts';
import type { VisitorConnection } from './visitor-connection.ts';

export interface PageEffectsParts {
  readonly pod: PodId;
  readonly limits: Config['limits'];
  readonly bus: PageBus;
  readonly visitors: ReadonlyMap<SocketId, VisitorConnection>;
  readonly metrics: Metrics;
  readonly turn: Pick<IceOffers, 'stunServers'>;
}

export function carryOutPageEffect(parts: PageEffectsParts, effect: PageEffect): void {
  const { bus, visitors, metrics } = parts;
  switch (effect.type) {
    case 'send':
      return send(parts, effect);
    case 'welcome':
      return arrived(parts, effect);
    case 'reject':
      return visitors.get(effect.socket)?.refuse(effect.code, effect.page);
    case 'deliver':
      return deliver(parts, effect);
    case 'subscribe':
      return bus.subscribe(effect.page);
    case 'unsubscribe':
      return bus.unsubscribe(effect.page);
    case 'publish-page':
      return bus.publish(effect.page, effect.message);
    case 'publish-pod':
      return bus.publishToPod(effect.pod, effect.message);
    case 'heartbeat':
      return bus.heartbeat(effect.message);
    case 'transfer':
      metrics.directedOut += 1;
      return bus.transfer(effect.pod, effect.transfer);
    default:
      return effect satisfies never;
  }
}

function deliver(
  parts: PageEffectsParts,
  { socket, from, payload, binary, delivered, slow }: PageEffect & { type: 'deliver' },
): void {
  parts.metrics.directedHere += 1;
  const next = parts.visitors.get(socket)?.deliver(from, payload, binary) ? delivered : slow;
  if (next !== undefined) carryOutPageEffect(parts, next);
}

function arrived(
  { pod, limits, visitors: sockets, turn }: PageEffectsParts,
  { socket, visitor, visitors }: PageEffect & { type: 'welcome' },
): void {
  sockets.get(socket)?.arrived(visitor, {
    type: 'welcome',
    visitor,
    pod,
    iceServers: turn.stunServers(visitor),
    limits: limitsToKeep(limits),
    visitors,
  });
}

function send(
  { visitors, metrics }: PageEffectsParts,
  { sockets, message }: PageEffect & { type: 'send' },
): void {
  if (message.type === 'undelivered') metrics.undelivered.inc({ reason: message.reason });
  const text = JSON.stringify(message);
  for (const socket of sockets) visitors.get(socket)?.sendText(text);
}

const limitsToKeep = (limits: Config['limits']): PageLimits => ({
  pageBytes: limits['page.bytes'],
  chunkBytes: limits['page.chunkBytes'],
  perVisitor: limits['page.perVisitor'],
  maxHolders: limits['page.maxHolders'],
  maxReaders: limits['page.maxReaders'],
  memoryBytes: limits['page.memoryBytes'],
  messageBytes: limits['message.bytes'],
});
