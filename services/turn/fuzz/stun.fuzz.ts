/** STUN answers, which any host on the path can send (RFC 8489 section 5 and 14). */
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { nearly, type Target } from '../../../scripts/fuzz/target.ts';
import {
  attribute,
  decodeAddress,
  decodeResponse,
  encodeAddress,
  encodeRequest,
  type Attribute,
} from '../src/stun.ts';

const SUCCESS = 0x0101;
const FAILURE = 0x0111;
const transaction = Buffer.from('0123456789ab');
const address = encodeAddress('192.0.2.7', 40_000, transaction);
const packets = [
  encodeRequest(SUCCESS, transaction, [[attribute.xorMappedAddress, address]]),
  encodeRequest(SUCCESS, transaction, [
    [attribute.xorMappedAddress, encodeAddress('2001:db8::7', 40_000, transaction)],
  ]),
  encodeRequest(FAILURE, transaction, [
    [attribute.errorCode, Buffer.from([0, 0, 4, 1])],
    [attribute.realm, Buffer.from('parley')],
    [attribute.nonce, Buffer.from('abc')],
  ]),
];

/** Read once more, straight from the figures of the RFC; the first of two attributes of a type counts (section 14). */
function oracle(packet: Buffer): ReadonlyMap<number, Buffer> {
  const found = new Map<number, Buffer>();
  let rest = packet.subarray(20, 20 + packet.readUInt16BE(2));
  while (rest.length >= 4) {
    const [type, length] = [rest.readUInt16BE(0), rest.readUInt16BE(2)];
    if (!found.has(type)) found.set(type, rest.subarray(4, 4 + length));
    rest = rest.subarray(4 + length + ((4 - (length % 4)) % 4));
  }
  return found;
}

const response: Target = {
  name: 'stun-response',
  inputs: fc.oneof(nearly(packets), fc.uint8Array({ maxLength: 64 })),
  check(input) {
    const packet = Buffer.from(input);
    const read = decodeResponse(packet);
    if (read === undefined) return false;
    assert.equal(read.transaction, packet.toString('hex', 8, 20));
    assert.deepEqual([...read.attributes], [...oracle(packet)]);
    const bytes = [...read.attributes.values()].reduce((sum, { length }) => sum + length, 0);
    assert.ok(bytes <= packet.length && (read.error ?? 0) <= 25_755);
    // What is read is written as it was read.
    const attributes: readonly Attribute[] = [...read.attributes];
    const again = decodeResponse(encodeRequest(packet.readUInt16BE(0), packet.subarray(8, 20), attributes));
    assert.deepEqual(again, read);
    const mapped = read.attributes.get(attribute.xorMappedAddress);
    if (mapped !== undefined) checkAddress(mapped, packet.subarray(8, 20));
    return true;
  },
};

function checkAddress(value: Buffer, transaction: Buffer): void {
  const found = decodeAddress(value, transaction);
  if (found === undefined) return;
  assert.deepEqual(encodeAddress(found.ip, found.port, transaction).subarray(1), value.subarray(1));
}

export const targets: readonly Target[] = [response];
