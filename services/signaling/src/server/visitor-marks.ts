/** The marks by which a ban recognises a visitor: keyed hashes, different in every room. SPEC rule MOD-8. */
import { createHmac } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import type { VisitorMarks } from '@parley/protocol/tokens';
import type { RoomRecord } from '../core/ports.ts';

const MARK_BYTES = 16;
/** A home or a phone has this prefix of an IPv6 address for itself, in groups of 16 bits. */
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

/** The IPv4 address, also where it is mapped to IPv6, or the first 64 bits of the IPv6 address in one spelling. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.replace(/%.*$/, '').toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const last = [...before, ...after].at(-1) ?? '';
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length - (isIPv4(last) ? 1 : 0);
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after].map((group) =>
    group.replace(/^0+(?=[^.])/, ''),
  );
  if (groups.slice(0, MAPPED_AT).join(':') === MAPPED) return mappedIPv4(groups.slice(MAPPED_AT));
  return `${groups.slice(0, IPV6_GROUPS).join(':')}::/64`;
}

const MAPPED = '0:0:0:0:0:ffff';
const MAPPED_AT = 6;

/** Written in dotted form, or as two groups of 16 bits. */
function mappedIPv4([high = '', low]: readonly string[]): string {
  if (low === undefined) return high;
  const bits = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return bits.flatMap((group) => [group >> 8, group & 255]).join('.');
}
