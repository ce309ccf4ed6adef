import assert from 'node:assert/strict';
import { it } from 'node:test';
import { decodeBusMessage, decodeClientMessage, decodeServerMessage } from '../src/decode.ts';
import { readDirected, readTransfers, receivedBinary, receivedText } from '../src/directed.ts';
import { parseRoomId } from '../src/ids.ts';
import { checkName } from '../src/people.ts';
import { allFixtures, wireBytes, wireText } from './fixture.ts';
import { Random } from './random.ts';

const ROUNDS = 20_000;
const decoder = new TextDecoder();

const seeds: readonly Uint8Array[] = [
  ...['client', 'server', 'bus', 'http', 'tokens'].flatMap((family) =>
    allFixtures(family).map((fixture) => new TextEncoder().encode(wireText(fixture))),
  ),
  ...allFixtures('directed').map(wireBytes),
];

/** Random bytes, or a message with changed bytes, without its end, or with the end of another message. */
function garbage(random: Random): Uint8Array {
  const seed = random.one(seeds);
  switch (random.below(4)) {
    case 0:
      return random.bytes(random.below(300));
    case 1:
      return seed.map((byte) => (random.below(20) === 0 ? random.below(256) : byte));
    case 2:
      return seed.subarray(0, random.below(seed.length + 1));
    default: {
      const other = random.one(seeds);
      return Uint8Array.from([
        ...seed.subarray(0, random.below(seed.length + 1)),
        ...other.subarray(random.below(other.length + 1)),
      ]);
    }
  }
}

it('no input makes a decoder throw, and every refusal has a code', () => {
  const random = new Random(20);
  let refused = 0;
  let read = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const bytes = garbage(random);
    const text = decoder.decode(bytes);
    try {
      for (const decode of [decodeClientMessage, decodeServerMessage, decodeBusMessage]) {
        const decoded = decode(text);
        if (decoded.ok) {
          read += 1;
          assert.equal(typeof decoded.message.type, 'string');
        } else {
          refused += 1;
          assert.ok(decoded.code === 'BAD_MESSAGE' || decoded.code === 'UNKNOWN_TYPE');
        }
      }
      const head = readDirected(bytes);
      if (head !== undefined) assert.ok(head.payloadAt <= bytes.length && /^[!-~]{17}$/.test(head.to));
      receivedBinary(bytes);
      receivedText(text);
      readTransfers(bytes);
      parseRoomId(text);
      checkName(text, 64);
    } catch (cause) {
      throw new Error(`round ${round}: ${Buffer.from(bytes).toString('base64')}`, { cause });
    }
  }
  // Both must happen often: otherwise the inputs are not similar enough to messages.
  assert.ok(read > ROUNDS / 200, `only ${read} were read`);
  assert.ok(refused > ROUNDS, `only ${refused} were refused`);
});

it('a message nested a hundred thousand deep is decoded or refused, without a crash', () => {
  const deep = `{"type":"leave","extra":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const inField = `{"type":"change","media":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  for (const text of [deep, inField]) {
    const decoded = decodeClientMessage(text);
    assert.ok(decoded.ok || decoded.code === 'BAD_MESSAGE');
  }
});

it('the length of a refusal does not depend on the message', () => {
  const decoded = decodeClientMessage(JSON.stringify({ type: 'leave'.repeat(10_000) }));
  assert.ok(!decoded.ok && decoded.reason.length < 200);
  const field = decodeClientMessage(JSON.stringify({ type: 'chat', id: 'x'.repeat(100_000), text: 'a' }));
  assert.ok(!field.ok && field.reason.length < 200);
});
