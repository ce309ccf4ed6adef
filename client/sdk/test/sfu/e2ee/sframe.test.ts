import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openSFrame, readHeader, sealSFrame, sframeKey } from '../../../src/sfu/e2ee/sframe.ts';

const { subtle } = globalThis.crypto;
const bytes = (hex: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(hex, 'hex'));
const hex = (of: Uint8Array | undefined): string | undefined => of && Buffer.from(of).toString('hex');
const base = (of: string): Promise<CryptoKey> =>
  subtle.importKey('raw', bytes(of), 'HKDF', false, ['deriveBits', 'deriveKey']);

// RFC 9605, appendix C.3, cipher suite 0x0004.
const RFC = {
  kid: 0x123,
  counter: 0x4567,
  base: '000102030405060708090a0b0c0d0e0f',
  salt: '75234edefe07819026751816',
  metadata: Buffer.from('IETF SFrame WG'),
  payload: bytes('64726166742d696574662d736672616d652d656e63'),
  sealed: bytes('9901234567b7412c2513a1b66dbb48841bbaf17f598751176ad847681a69c6d0b091c07018ce4adb34eb'),
};

describe('SFrame', () => {
  it('[MEDIA-16] seals and opens the vector of the RFC', async () => {
    const key = await sframeKey(subtle, await base(RFC.base), RFC.kid);
    assert.equal(hex(key.salt), RFC.salt);
    assert.equal(hex(await sealSFrame(subtle, key, RFC.counter, RFC)), hex(RFC.sealed));
    const header = readHeader(RFC.sealed);
    assert.deepEqual(header, { kid: RFC.kid, counter: RFC.counter, length: 5 });
    assert.equal(hex(await openSFrame(subtle, key, header, RFC)), hex(RFC.payload));
  });

  it('[MEDIA-16] opens nothing of which header, metadata, ciphertext, tag or key is another', async () => {
    const key = await sframeKey(subtle, await base(RFC.base), RFC.kid);
    const header = readHeader(RFC.sealed);
    assert.ok(header !== undefined);
    for (let at = 0; at < RFC.sealed.length; at += 1) {
      const sealed = RFC.sealed.slice();
      sealed[at] = (sealed[at] ?? 0) ^ 1;
      assert.equal(await openSFrame(subtle, key, header, { ...RFC, sealed }), undefined, `byte ${at}`);
    }
    const metadata = Buffer.from('IETF SFrame WF');
    assert.equal(await openSFrame(subtle, key, header, { ...RFC, metadata }), undefined);
    assert.equal(await openSFrame(subtle, key, { ...header, counter: 1 }, RFC), undefined);
    for (const other of [
      await sframeKey(subtle, await base(RFC.base), RFC.kid + 1),
      await sframeKey(subtle, await base(RFC.base.replace('00', '01')), RFC.kid),
    ])
      assert.equal(await openSFrame(subtle, other, header, RFC), undefined);
  });

  // RFC 9605, appendix C.1, of which these are the ends of each length.
  for (const [kid, counter, header] of [
    [0, 0, '00'],
    [0, 1, '01'],
    [0, 0xff, '08ff'],
    [0, 0x100, '090100'],
    [1, 0, '10'],
    [7, 7, '77'],
    [8, 0, '8008'],
    [0xff, 0xff, '88ffff'],
    [0x100, 0xff_ffff, '9a0100ffffff'],
    [0xffff_ffff, 0xffff_ffff, 'bbffffffffffffffff'],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 'ee1fffffffffffff1fffffffffffff'],
  ] as const)
    it(`[MEDIA-16] has the header ${header} for key ${kid} and counter ${counter}`, async () => {
      const key = await sframeKey(subtle, await base(RFC.base), kid);
      const sealed = await sealSFrame(subtle, key, counter, { metadata: bytes(''), payload: bytes('') });
      assert.equal(hex(sealed.subarray(0, -16)), header);
      assert.deepEqual(readHeader(sealed), { kid, counter, length: header.length / 2 });
    });

  it('[MEDIA-16] reads no header from bytes that are too few, or with a number over 2^53 - 1', () => {
    assert.equal(readHeader(bytes('')), undefined);
    assert.equal(readHeader(bytes('00').subarray(0, 1)), undefined, 'without a tag');
    for (let length = 0; length < 33; length += 1)
      assert.equal(readHeader(new Uint8Array(length).fill(0xff)), undefined, `${length} bytes`);
    assert.equal(readHeader(bytes(`e01fffffffffffff${'00'.repeat(16)}`))?.kid, Number.MAX_SAFE_INTEGER);
    assert.equal(readHeader(bytes(`e020000000000000${'00'.repeat(16)}`)), undefined);
  });
});
