import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { networkOf } from '../../src/server/visitor-marks.ts';

describe('the network that a ban recognises', () => {
  for (const [address, network] of [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
    ['::ffff:0.0.2.7', '0.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['2001:db8:1:2::/64', '2001:db8:1:2::/64'],
    ['fe80::1%25', 'fe80:0:0:0::/64'],
    ['::ffff:192.0.2.7%eth0', '192.0.2.7'],
    ['unknown', 'unknown'],
    ['2001:db8:::1', '2001:db8:::1'],
    ['[2001:db8::1]', '[2001:db8::1]'],
  ] as const)
    test(`[MOD-8] of ${address} is ${network}`, () => assert.equal(networkOf(address), network));
});
