/** What a ban recognises somebody by: keyed hashes, different in every room. SPEC rule MOD-8. */
import { createHmac } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import type { VisitorMarks } from '@parley/protocol/tokens';
import type { RoomRecord } from '../core/ports.ts';

const MARK_BYTES = 16;
/** A home or a phone has that much of an IPv6 address for itself. */
const IPV6_GROUPS = 4;

export function marksOf(
  { ownerKeyHash }: Pick<RoomRecord, 'ownerKeyHash'>,
  address: string,
  device: string | undefined,
): VisitorMarks {
  const mark = (kind: string, value: string): string =>
    createHmac('sha256', ownerKeyHash)
      .update(`${kind} ${value}`)
      .digest()
      .subarray(0, MARK_BYTES)
      .toString('base64url');
  return {
    network: mark('network', networkOf(address)),
    ...(device === undefined ? {} : { device: mark('device', device) }),
  };
}

/** The IPv4 address, or the first 64 bits of the IPv6 address in one spelling. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined && isIPv4(mapped)) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.replace(/%.*$/, '').toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after];
  return `${groups
    .slice(0, IPV6_GROUPS)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
