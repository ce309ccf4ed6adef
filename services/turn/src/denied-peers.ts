import { isIP, isIPv4 } from 'node:net';
import { ipv6Bytes, ipv6Text } from './stun.ts';

/** A range of peer addresses that coturn refuses, in its notation `first-last`, and what uses it. */
export interface DeniedRange {
  readonly range: string;
  readonly reason: string;
}

/**
 * Peers to which coturn relays nothing. Without this list a TURN credential, which every participant has, gives access to the network of the TURN
 * node (CVE-2020-26262 and earlier open relays).
 *
 * The documentation ranges (192.0.2.0/24 and others) are not listed: nothing is routed there, and test networks use them as their public segment.
 */
export const deniedPeers: readonly DeniedRange[] = [
  { range: '0.0.0.0-0.255.255.255', reason: 'this host (RFC 1122); Linux delivers 0.0.0.0 to itself' },
  { range: '10.0.0.0-10.255.255.255', reason: 'private (RFC 1918); pods and Services of many clusters' },
  { range: '100.64.0.0-100.127.255.255', reason: 'shared address space (RFC 6598); pods of some clouds' },
  { range: '127.0.0.0-127.255.255.255', reason: 'loopback of the TURN node' },
  { range: '169.254.0.0-169.254.255.255', reason: 'link-local; cloud metadata answers at 169.254.169.254' },
  { range: '172.16.0.0-172.31.255.255', reason: 'private (RFC 1918); container bridges' },
  { range: '192.0.0.0-192.0.0.255', reason: 'protocol assignments (RFC 6890); metadata of some clouds' },
  { range: '192.168.0.0-192.168.255.255', reason: 'private (RFC 1918)' },
  { range: '198.18.0.0-198.19.255.255', reason: 'benchmarking (RFC 2544); used as private space' },
  { range: '224.0.0.0-239.255.255.255', reason: 'multicast' },
  { range: '240.0.0.0-255.255.255.255', reason: 'reserved and broadcast' },
  // The range starts at ::1: coturn 4.6 takes a range that starts at `::` for one that contains every IPv4 address. It always refuses `::` itself.
  { range: '::1-::ffff:ffff', reason: 'loopback ::1 and IPv4-compatible addresses' },
  { range: '::ffff:0.0.0.0-::ffff:255.255.255.255', reason: 'IPv4-mapped: any IPv4 address in disguise' },
  {
    range: '::ffff:0:0.0.0.0-::ffff:0:255.255.255.255',
    reason: 'IPv4-translated (RFC 2765): any IPv4 address in disguise',
  },
  { range: '64:ff9b::-64:ff9b::ffff:ffff', reason: 'NAT64 (RFC 6052): any IPv4 address in disguise' },
  { range: '64:ff9b:1::-64:ff9b:1:ffff:ffff:ffff:ffff:ffff', reason: 'local NAT64 (RFC 8215)' },
  { range: '2001::-2001:0:ffff:ffff:ffff:ffff:ffff:ffff', reason: 'Teredo: carries an IPv4 address' },
  { range: '2002::-2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', reason: '6to4: carries an IPv4 address' },
  {
    range: '5f00::-5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    reason: 'SRv6 segments (RFC 9602): routers of the network',
  },
  {
    range: 'fc00::-fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    reason: 'unique local (RFC 4193); fd00:ec2::254',
  },
  { range: 'fe80::-febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', reason: 'link-local' },
  {
    range: 'fec0::-feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    reason: 'site-local, deprecated and still private',
  },
  { range: 'ff00::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', reason: 'multicast' },
];

/** A block of addresses, `2001:db8:1::/48`, in coturn's notation. Throws an Error that names an invalid block. */
export function rangeOf(block: string): string {
  const [address = '', length = '', ...rest] = block.split('/');
  const size = isIPv4(address) ? 32 : 128;
  const prefix = Number(length);
  // A prefix of 0 is no block but everything: coturn would relay nothing.
  if (
    isIP(address) === 0 ||
    address.includes('%') ||
    !/^[0-9]+$/.test(length) ||
    rest.length > 0 ||
    prefix < 1 ||
    prefix > size
  )
    throw new Error(`not a block of addresses: ${block}`);
  const hosts = (1n << BigInt(size - prefix)) - 1n;
  const bits = bitsOf(address);
  const first = bits - (bits & hosts);
  // As above: a range from `::` would contain every IPv4 address.
  const start = size === 128 && first === 0n ? 1n : first;
  return `${textOf(start, size)}-${textOf(bits | hosts, size)}`;
}

function bitsOf(address: string): bigint {
  const bytes = isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
  return BigInt(`0x${bytes.toString('hex')}`);
}

function textOf(bits: bigint, size: number): string {
  const bytes = Buffer.from(bits.toString(16).padStart(size / 4, '0'), 'hex');
  return size === 32 ? bytes.join('.') : ipv6Text(bytes);
}
