/** Carries out the effects of the core of rooms: on sockets, the bus, the home region's store and the media relays. */
import type { Effect } from '../core/effects.ts';
import type { Bus } from '../core/ports.ts';
import type { HomeRegion } from './home-region.ts';
import type { MediaAccess } from './media-access.ts';
import type { Metrics } from './metrics.ts';
import type { OwnerRequests } from './owner-requests.ts';
import type { PageShell } from './page-shell.ts';
import type { Sockets } from './sockets.ts';

export interface RoomEffectsParts {
  readonly sockets: Sockets;
  readonly bus: Bus;
  readonly home: HomeRegion;
  readonly media: MediaAccess;
  readonly pages: Pick<PageShell, 'handle'>;
  readonly requests: OwnerRequests;
  readonly metrics: Metrics;
}

export function carryOutRoomEffect(parts: RoomEffectsParts, effect: Effect): void {
  const { sockets, bus, home, media, pages, requests, metrics } = parts;
  switch (effect.type) {
    case 'send':
      return send(parts, effect);
    case 'deliver':
      metrics.directedHere += 1;
      return sockets.connection(effect.socket)?.deliver(effect.from, effect.payload, effect.binary);
    case 'close':
      return sockets.connection(effect.socket)?.end(effect.code);
    case 'subscribe':
      return bus.subscribe(effect.room);
    case 'unsubscribe':
      return bus.unsubscribe(effect.room);
    case 'publish-room':
      return bus.publish(effect.room, effect.message);
    case 'publish-pod':
      return bus.publishToPod(effect.pod, effect.message);
    case 'heartbeat':
      return bus.heartbeat(effect.message);
    case 'take-seat':
    case 'let-in':
    case 'claim-seat':
    case 'free-seat':
    case 'read-policy':
      return home.ask(effect);
    case 'moderated':
      return requests.moderated(effect);
    case 'listed':
      return requests.listed(effect);
    case 'departed':
      return media.departed(effect);
    case 'relay-mutes':
      return media.mute(effect);
    case 'transfer':
      metrics.directedOut += 1;
      return bus.transfer(effect.pod, effect.transfer);
    case 'regions-missing':
      return pages.handle(effect);
    default:
      return effect satisfies never;
  }
}

function send(
  { sockets, metrics }: RoomEffectsParts,
  { sockets: ids, message }: Effect & { type: 'send' },
): void {
  if (message.type === 'undelivered') metrics.undelivered.inc({ reason: message.reason });
  const [only] = ids;
  if (ids.length === 1 && only !== undefined) {
    sockets.connection(only)?.send(message);
    return;
  }
  const text = JSON.stringify(message);
  for (const id of ids) sockets.connection(id)?.sendText(text);
}
