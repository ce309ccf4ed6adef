import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { Bitmap } from '../../src/pages/bitmap.ts';
import { Candidates } from '../../src/pages/candidates.ts';
import { makeManifest, readManifest } from '../../src/pages/manifest.ts';
import { PageCipher, encryptedBytes } from '../../src/pages/cipher.ts';
import { noise } from './fakes/steps.ts';

const { subtle } = crypto;
const KEY = 'AAECAwQFBgcICQoLDA0ODw';
const visitor = (letter: string): string => `v${letter.repeat(16)}`;

describe('the manifest', () => {
  test('[PAGE-1] the same content has the same address, and another name has another address', async () => {
    const bytes = noise(50_000);
    const made = await makeManifest(subtle, { type: 'text/html', name: 'a' }, bytes, 16_384);
    const again = await makeManifest(subtle, { name: 'a', type: 'text/html' }, bytes.slice(), 16_384);
    const other = await makeManifest(subtle, { type: 'text/html', name: 'b' }, bytes, 16_384);
    assert.equal(made.page, again.page);
    assert.notEqual(made.page, other.page);
    assert.equal(made.page, createHash('sha256').update(made.text).digest('hex'));
  });

  test('[PAGE-2] the order of its fields and its format, which the command line writes too', async () => {
    const { text, page } = await makeManifest(
      subtle,
      { type: 'text/plain' },
      new TextEncoder().encode('hello'),
      65_536,
    );
    const hash = 'LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ';
    assert.equal(
      text,
      `{"v":1,"type":"text/plain","bytes":5,"chunkBytes":65536,"sha256":"${hash}","chunks":["${hash}"]}`,
    );
    assert.match(page, /^[0-9a-f]{64}$/);
  });

  test('[PAGE-2] a manifest matches its address only byte for byte', async () => {
    const { text, page } = await makeManifest(subtle, { type: 'text/plain' }, noise(10), 65_536);
    const limits = { pageBytes: 100 };
    assert.equal((await readManifest(subtle, page, text, limits)).is, 'page');
    assert.equal((await readManifest(subtle, page, `${text} `, limits)).is, 'other');
  });
});

describe('an encrypted page', () => {
  test('[PAGE-4] chunks, each longer by 16 bytes, decrypt only with their key at their position', async () => {
    const cipher = await PageCipher.of(subtle, KEY);
    assert.ok(cipher !== undefined);
    const bytes = noise(1000);
    const encrypted = await cipher.encrypt(bytes, 128);
    assert.equal(encrypted.length, encryptedBytes(1000, 128));
    assert.equal(encrypted.length, 1000 + 16 * Math.ceil(1000 / 112));
    assert.deepEqual(await cipher.decrypt(encrypted, 128), bytes);
    const swapped = encrypted.slice();
    swapped.set(encrypted.subarray(128, 256), 0);
    swapped.set(encrypted.subarray(0, 128), 128);
    assert.equal(await cipher.decrypt(swapped, 128), undefined);
    const other = await PageCipher.of(subtle, 'BAECAwQFBgcICQoLDA0ODw');
    assert.equal(await other?.decrypt(encrypted, 128), undefined);
  });

  test('[PAGE-4] known bytes, for other clients', async () => {
    const cipher = await PageCipher.of(subtle, KEY);
    const encrypted = await cipher?.encrypt(new TextEncoder().encode('hello'), 65_536);
    const head = await cipher?.encryptHead({ type: 'text/plain', name: 'a.txt' });
    assert.equal(Buffer.from(encrypted ?? []).toString('hex'), '3263befd1db3348a4b64084b0e60ba7f5112ee3d88');
    assert.equal(head, '_JB0LVqW-WE5GcKG2zNm7vBApKnZIHEGeHi-1RWpJNXgNJLyH4sPlMjw2ABn_E-jisf9fQ');
    assert.deepEqual(await cipher?.decryptHead(head ?? ''), { type: 'text/plain', name: 'a.txt' });
  });

  test('[PAGE-4] an invalid head, or one that is too long', async () => {
    const cipher = await PageCipher.of(subtle, KEY);
    assert.equal(await cipher?.decryptHead('AAAA'), undefined);
    assert.equal(await cipher?.decryptHead('A'), undefined);
    assert.equal(await cipher?.encryptHead({ type: 'text/plain', name: '\u0001'.repeat(200) }), undefined);
    assert.equal(await PageCipher.of(subtle, 'short'), undefined);
  });
});

describe('a bitmap', () => {
  test('[PAGE-16] the first chunk is the highest bit of the first byte', () => {
    const bitmap = new Bitmap(10);
    bitmap.add(0);
    bitmap.add(9);
    assert.equal(bitmap.toText(), Buffer.from([0x80, 0x40]).toString('base64url'));
    const read = new Bitmap(10);
    assert.ok(read.addAll(bitmap.toText()));
    assert.deepEqual([read.has(0), read.has(1), read.has(9), read.count], [true, false, true, 2]);
  });

  test('bits after the last chunk are ignored', () => {
    const bitmap = new Bitmap(3);
    assert.ok(bitmap.addAll(Buffer.from([0xff, 0xff, 0xff]).toString('base64url')));
    assert.deepEqual([bitmap.count, bitmap.full], [3, true]);
    assert.equal(bitmap.add(3), false);
    assert.equal(bitmap.addAll('!'), false);
    bitmap.remove(1);
    assert.deepEqual([bitmap.count, bitmap.full], [2, false]);
  });
});

describe('whom to ask', () => {
  const [a, b, c] = [visitor('a'), visitor('b'), visitor('c')];

  test('a complete holder first, then in the order in which they were named', () => {
    const candidates = new Candidates();
    candidates.name([
      { visitor: a, whole: false },
      { visitor: b, whole: true },
      { visitor: c, whole: true },
    ]);
    assert.equal(candidates.next(new Set(), 0), b);
    assert.equal(candidates.next(new Set([b]), 0), a);
    assert.equal(candidates.next(new Set([a, b, c]), 0), undefined);
  });

  test('[PAGE-6] a resting visitor is not asked, and is named in `exclude`; one that sent wrong content is never asked again', () => {
    const candidates = new Candidates();
    candidates.name([{ visitor: a, whole: true }]);
    candidates.rest(a, 1000, 0);
    assert.equal(candidates.next(new Set(), 999), undefined);
    assert.deepEqual(candidates.exclude(new Set(), 999), [a]);
    assert.equal(candidates.next(new Set(), 1000), a);
    candidates.rest(a, 1000, 1000);
    assert.equal(candidates.next(new Set(), 2500), undefined, 'the second time longer');
    candidates.ban(b);
    candidates.name([{ visitor: b, whole: true }]);
    assert.equal(candidates.next(new Set(), 1e9), a, 'who was named before is remembered');
    assert.deepEqual(candidates.exclude(new Set([c]), 1e9), [c, b]);
  });

  test('the number of names is bounded', () => {
    const candidates = new Candidates();
    for (let count = 0; count < 1000; count += 1) {
      const name = `v${count.toString().padStart(16, '0')}`;
      candidates.ban(name);
      candidates.rest(name, 1e6, 0);
    }
    assert.equal(candidates.exclude(new Set(), 1).length, 64);
    assert.equal(candidates.isBad(`v${'0'.repeat(16)}`), false);
  });
});
