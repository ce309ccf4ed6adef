import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { webCompression } from '../../src/net/compression.ts';
import { decodeSignal, encodeSignal, type Signal } from '../../src/mesh/payload.ts';

const compression = webCompression();
const description: Signal = {
  type: 'description',
  session: 1,
  round: 1,
  kind: 'offer',
  sdp: 'a=candidate:1 1 udp 2122260223 192.0.2.1 54400 typ host\r\n'.repeat(60),
  roles: [{ mid: '0', role: 'microphone' }],
};
const candidate = { candidate: 'candidate:1', sdpMid: '0', sdpMLineIndex: 0, usernameFragment: 'abcd' };
const candidates: Signal = { type: 'candidates', session: 1, candidates: [candidate] };
const deflated = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(deflateRawSync(text));

describe('the payload of a directed message', () => {
  test('a long payload is deflated and decoded to the same value', async () => {
    const payload = await encodeSignal(description, compression);
    assert.ok(payload instanceof Uint8Array && payload.length < 500);
    assert.deepEqual(await decodeSignal(payload, compression), description);
  });

  test('a short payload, or any without compression, is text', async () => {
    assert.equal(await encodeSignal(candidates, compression), JSON.stringify(candidates));
    assert.equal(await encodeSignal(description, null), JSON.stringify(description));
    assert.deepEqual(await decodeSignal(JSON.stringify(description), null), description);
  });

  test('a payload that compression does not shorten is text', async () => {
    const random = crypto.getRandomValues(new Uint8Array(4000));
    const sdp = String.fromCharCode(...random.map((byte) => 33 + (byte % 90)));
    const noisy: Signal = { ...description, sdp };
    const payload = await encodeSignal(noisy, {
      deflate: async (bytes) => bytes,
      inflate: async (bytes) => bytes,
    });
    assert.equal(typeof payload, 'string');
  });

  test('a decompression bomb is cut off at the limit', async () => {
    const bomb = deflated(JSON.stringify({ ...description, sdp: ' '.repeat(60_000_000) }));
    assert.ok(bomb.length < 100_000);
    const before = process.memoryUsage().arrayBuffers;
    assert.equal(await decodeSignal(bomb, compression), undefined);
    assert.ok(process.memoryUsage().arrayBuffers - before < 10_000_000);
  });

  const bad: readonly (readonly [string, string | Uint8Array<ArrayBuffer>])[] = [
    ['nothing', ''],
    ['no JSON', '{'],
    ['no object', '7'],
    ['null', 'null'],
    ['an unknown type', '{"type":"hello"}'],
    ['a type from the prototype', '{"type":"constructor"}'],
    ['a missing field', JSON.stringify({ ...description, sdp: undefined })],
    ['a session that is no integer', JSON.stringify({ ...description, session: 1.5 })],
    ['a rollback', JSON.stringify({ ...description, kind: 'rollback' })],
    ['an enormous description', JSON.stringify({ ...description, sdp: ' '.repeat(200_001) })],
    ['an unknown role', JSON.stringify({ ...description, roles: [{ mid: '0', role: 'admin' }] })],
    [
      'too many candidates',
      JSON.stringify({ ...candidates, candidates: Array.from({ length: 201 }, () => candidate) }),
    ],
    [
      'a candidate that is no text',
      JSON.stringify({ ...candidates, candidates: [{ ...candidate, candidate: 1 }] }),
    ],
    ['bytes that are not deflated', new Uint8Array([1, 2, 3, 4])],
    ['no bytes', new Uint8Array()],
    ['a deflated fragment', deflated(JSON.stringify(description)).slice(0, 40)],
    ['deflated bytes that are not UTF-8', new Uint8Array(deflateRawSync(new Uint8Array([0xff, 0xfe])))],
  ];
  for (const [title, payload] of bad) {
    test(`${title}: dropped`, async () => {
      assert.equal(await decodeSignal(payload, compression), undefined);
    });
  }
});
