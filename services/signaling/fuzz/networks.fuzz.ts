/** Addresses in every spelling: what they count against is a matter of the address and not of how it is written. */
import assert from 'node:assert/strict';
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import * as fc from 'fast-check';
import { nearly, textOf, utf8, type Target } from '../../../scripts/fuzz/target.ts';
import { networkOf } from '../src/server/visitor-marks.ts';

const ADDRESSES = [
  '192.0.2.7',
  '0.1.2.3',
  '::ffff:192.0.2.7',
  '::ffff:c000:207',
  '0:0:0:0:0:ffff:192.0.2.7',
  '2001:db8:1:2:3:4:5:6',
  '2001:DB8:0001:0002::9',
  '::',
  '::1',
  '1::',
  'fe80::1%eth0',
  '64:ff9b::192.0.2.7',
  '1:2:3:4:5:6:7::',
  '::2:3:4:5:6:7:8',
  '1:2:3:4:5:6:1.2.3.4',
];

/** Six groups that begin an IPv4-mapped address (RFC 4291 section 2.5.5.2). */
const MAPPED = [0, 0, 0, 0, 0, 0xffff];

/** Eight groups as one of the ways to write them: leading zeros, capitals, `::`, dots at the end, a zone. */
const spelled = fc
  .tuple(
    fc.array(fc.oneof(fc.constantFrom(0, 0, 0, 1, 0xffff), fc.nat(0xffff)), { minLength: 8, maxLength: 8 }),
    fc.boolean(),
    fc.constantFrom(1, 2, 4),
    fc.boolean(),
    fc.boolean(),
    fc.boolean(),
    fc.constantFrom('', '', '%eth0', '%1:2'),
  )
  .map(([random, mapped, width, upper, short, dotted, zone]) => {
    const groups = mapped ? [...MAPPED, ...random.slice(6)] : random;
    const parts = groups.map((group) => group.toString(16).padStart(width, '0'));
    const bits = groups.slice(6).flatMap((group) => [group >> 8, group & 255]);
    const written = dotted ? [...parts.slice(0, 6), bits.join('.')] : parts;
    let text = written.join(':');
    if (short) text = text.replace(/(?:^|:)(?:0+(?::|$))+/, '::');
    return utf8((upper ? text.toUpperCase() : text) + zone);
  });

/** Node's own reading: which of the networks contains it. */
function isWithin(address: string, network: string): boolean {
  const list = new BlockList();
  const [prefix = ''] = network.split('/');
  if (network.endsWith('/64')) list.addSubnet(prefix, 64, 'ipv6');
  else list.addAddress(network, 'ipv4');
  return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

/** By WHATWG URL: the one spelling of an IPv6 address. */
const canonical = (address: string): string => new URL(`http://[${address}]/`).hostname.slice(1, -1);

const networks: Target = {
  name: 'networks',
  inputs: fc.oneof(spelled, nearly(ADDRESSES.map(utf8), [':', '::', '.', '%', '0', 'ffff', '/64'])),
  check(input) {
    const text = textOf(input);
    const network = networkOf(text);
    if (isIPv4(text)) assert.equal(network, text);
    if (!isIPv6(text)) return isIPv4(text);
    const plain = text.replace(/%.*$/, '');
    assert.equal(networkOf(canonical(plain)), network, 'it depends on the spelling');
    assert.ok(isIPv4(network) || /^(?:[0-9a-f]{1,4}:){4}:\/64$/.test(network), network);
    const mapped = canonical(plain).startsWith('::ffff:') && canonical(plain).split(':').length === 5;
    assert.equal(isIPv4(network), mapped, `${text} counts against ${network}`);
    assert.ok(isWithin(plain, network), `${text} is not within ${network}`);
    return true;
  },
};

export const targets: readonly Target[] = [networks];
