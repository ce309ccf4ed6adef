/** Carries out the effects of the core of pages: on the sockets of visitors and on the bus. */
import type { PageLimits } from '@parley/protocol/pages';
import type { PodId } from '@parley/protocol/ids';
import type { PageEffect } from '../core/pages/effects.ts';
import type { PageBus } from '../core/ports.ts';
import type { SocketId } from '../core/socket-id.ts';
import type { Config } from './config.ts';
import type { Metrics } from './metrics.ts';
import type { TurnDesk } from './ice-offers.ts';
import type { VisitorConnection } from './visitor-connection.ts';

export interface PageEffectsParts {
  readonly pod: PodId;
  readonly limits: Config['limits'];
  readonly bus: PageBus;
  readonly visitors: ReadonlyMap<SocketId, VisitorConnection>;
  readonly metrics: Metrics;
  readonly turn: Pick<TurnDesk, 'stunServers'>;
}

export function carryOutPageEffect(parts: PageEffectsParts, effect: PageEffect): void {
  const { bus, visitors, metrics } = parts;
  switch (effect.type) {
    case 'say':
      return say(parts, effect);
    case 'welcome':
      return arrived(parts, effect);
    case 'reject':
      return visitors.get(effect.socket)?.refuse(effect.code, effect.page);
    case 'hand-on':
      return handOn(parts, effect);
    case 'listen':
      return bus.listen(effect.page);
    case 'stop-listening':
      return bus.stopListening(effect.page);
    case 'tell-page':
      return bus.publish(effect.page, effect.message);
    case 'tell-pod':
      return bus.tellPod(effect.pod, effect.message);
    case 'heartbeat':
      return bus.heartbeat(effect.message);
    case 'transfer':
      metrics.directedOut += 1;
      return bus.transfer(effect.pod, effect.transfer);
    default:
      return effect satisfies never;
  }
}

function handOn(
  parts: PageEffectsParts,
  { socket, from, payload, binary, taken, slow }: PageEffect & { type: 'hand-on' },
): void {
  parts.metrics.directedHere += 1;
  const next = parts.visitors.get(socket)?.handOn(from, payload, binary) ? taken : slow;
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

function say(
  { visitors, metrics }: PageEffectsParts,
  { sockets, message }: PageEffect & { type: 'say' },
): void {
  if (message.type === 'undelivered') metrics.undelivered.inc({ reason: message.reason });
  const text = JSON.stringify(message);
  for (const socket of sockets) visitors.get(socket)?.sayText(text);
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
