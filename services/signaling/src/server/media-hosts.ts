/** The hosts of media relays to which clients may be sent: a lease names the relay's host but does not prove it. SPEC rule MEDIA-17. */
import { BlockList, isIP } from 'node:net';

const hostName = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;

export interface MediaHosts {
  /** `url`: an https origin, as `MediaRelay` has it. */
  allows(url: string): boolean;
}

/** `entries`: names, `*.suffix`, and addresses or blocks of them. Throws an Error that names an invalid entry. */
export function mediaHosts(entries: readonly string[]): MediaHosts {
  const allowed = entries.length > 0 ? listed(entries) : isPossible;
  return {
    allows(url) {
      const { hostname } = new URL(url);
      return allowed(hostname.replace(/^\[|\]$/g, '').replace(/\.$/, ''));
    },
  };
}

function listed(entries: readonly string[]): (host: string) => boolean {
  const names = new Set<string>();
  const suffixes: string[] = [];
  const blocks = new BlockList();
  for (const entry of entries.map((given) => given.toLowerCase())) {
    if (addTo(blocks, entry)) continue;
    const name = entry.replace(/^\*\./, '');
    if (!hostName.test(name)) throw new Error(`${entry} is no name, *.name, address or block of addresses`);
    if (name === entry) names.add(name);
    else suffixes.push(`.${name}`);
  }
  return (host) =>
    isIP(host) === 0
      ? names.has(host) || suffixes.some((suffix) => host.endsWith(suffix) && host !== suffix)
      : isIn(blocks, host);
}

function addTo(blocks: BlockList, entry: string): boolean {
  const [address = '', length, ...rest] = entry.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  const max = version === 4 ? 32 : 128;
  const bits = length === undefined ? max : Number(length);
  if (length === '' || !Number.isInteger(bits) || bits < 1 || bits > max) return false;
  blocks.addSubnet(address, bits, version === 4 ? 'ipv4' : 'ipv6');
  return true;
}

const isIn = (blocks: BlockList, host: string): boolean =>
  blocks.check(host, isIP(host) === 4 ? 'ipv4' : 'ipv6');

/** Addresses that no relay of a region has: loopback, unspecified, link-local, multicast, broadcast, and the metadata services of clouds. */
const impossible = new BlockList();
for (const block of [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '255.255.255.255',
  '100.100.100.200',
  '::/128',
  '::1',
  'fe80::/10',
  'ff00::/8',
  'fd00:ec2::254',
])
  addTo(impossible, block);

function isPossible(host: string): boolean {
  if (isIP(host) !== 0) return !isIn(impossible, host);
  return host !== '' && host !== 'localhost' && !host.endsWith('.localhost');
}
