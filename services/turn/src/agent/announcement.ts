/** The lease that a node publishes about itself. SPEC rule TURN-5. */
import { createHmac } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { TurnNode } from '@parley/protocol/turn';
import type { Coturn } from './coturn.ts';
import { totalQuota } from '../render.ts';
import type { Settings } from './settings.ts';

/** `addresses`: at which clients reach the node, in order of preference. */
export function describeNode(
  settings: Settings,
  addresses: readonly string[],
  coturn: Pick<Coturn, 'allocations'>,
) {
  const epoch = Date.now();
  const { node, region, secret } = settings;
  const fixed = { node, epoch, region, key: keyOf(secret), urls: urlsOf(settings, addresses) };
  return (): TurnNode => ({ ...fixed, allocations: coturn.allocations(), capacity: totalQuota(settings) });
}

/** Over TLS only by name: browsers accept no certificate for an address. */
function urlsOf({ port, tlsAt }: Settings, addresses: readonly string[]): string[] {
  const at = addresses.map((address) => `${isIPv6(address) ? `[${address}]` : address}:${port}`);
  const plain = ['udp', 'tcp'].flatMap((transport) =>
    at.map((each) => `turn:${each}?transport=${transport}`),
  );
  return tlsAt === undefined ? plain : [...plain, `turns:${tlsAt}?transport=tcp`];
}

/** Identifies the secret without revealing it. */
function keyOf(secret: string): string {
  return createHmac('sha256', secret).update('parley turn').digest('base64url').slice(0, 16);
}
