/** The lease that a node publishes about itself. SPEC rule TURN-5. */
import { createHmac } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { TurnNode } from '@parley/protocol/turn';
import type { Coturn } from './coturn.ts';
import { totalQuota } from '../render.ts';
import type { Settings } from './settings.ts';

/** `address`: at which clients reach the node. */
export function describeNode(settings: Settings, address: string, coturn: Pick<Coturn, 'allocations'>) {
  const epoch = Date.now();
  const { node, region, secret } = settings;
  const fixed = { node, epoch, region, key: keyOf(secret), urls: urlsOf(settings, address) };
  return (): TurnNode => ({ ...fixed, allocations: coturn.allocations(), capacity: totalQuota(settings) });
}

/** Over TLS only by name: browsers accept no certificate for an address. */
function urlsOf({ port, tlsAt }: Settings, address: string): string[] {
  const at = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
  const plain = [`turn:${at}?transport=udp`, `turn:${at}?transport=tcp`];
  return tlsAt === undefined ? plain : [...plain, `turns:${tlsAt}?transport=tcp`];
}

/** Identifies the secret without revealing it. */
function keyOf(secret: string): string {
  return createHmac('sha256', secret).update('parley turn').digest('base64url').slice(0, 16);
}
