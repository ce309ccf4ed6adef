/** What a stranger's browser says of a page: its manifest, bitmaps of chunks, and the dialogue of two visitors. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { nearlyJson, textOf, utf8, type Target } from '../../../scripts/fuzz/target.ts';
import { fixtures } from '../../../services/protocol/test/fixture.ts';
import { fromBase64, toBase64 } from '../src/pages/base64.ts';
import { Bitmap } from '../src/pages/bitmap.ts';
import { Dialogue } from '../src/pages/dialogue.ts';
import { makeManifest, readManifest } from '../src/pages/manifest.ts';
import { newSecret, readSecret } from '../src/sfu/secret.ts';

const { subtle } = crypto;
const PAGE_BYTES = 1 << 20;

const manifest: Target = {
  name: 'manifest',
  inputs: nearlyJson([
    (await makeManifest(subtle, { type: 'text/plain', name: 'a.txt' }, new Uint8Array(300), 100)).fields,
    (await makeManifest(subtle, { type: 'image/png' }, new Uint8Array(1), 65_536)).fields,
    ...fixtures('manifest', 'valid').map(({ content }) => content['message']),
  ]),
  async check(input) {
    const text = textOf(input);
    const page = createHash('sha256').update(utf8(text)).digest('hex');
    const reading = await readManifest(subtle, page, text, { pageBytes: PAGE_BYTES });
    assert.notEqual(reading.is, 'other', 'it is what its address names');
    if (reading.is !== 'page') return false;
    const { fields } = reading.manifest;
    assert.ok(fields.bytes >= 1 && fields.bytes <= PAGE_BYTES && fields.chunkBytes >= 1);
    const last = fields.bytes - (fields.chunks.length - 1) * fields.chunkBytes;
    assert.ok(last >= 1 && last <= fields.chunkBytes, 'the chunks do not add up to the page');
    for (const hash of [fields.sha256, ...fields.chunks]) {
      const bytes = fromBase64(hash);
      assert.ok(bytes?.length === 32 && toBase64(bytes) === hash, `no chunk can have the hash ${hash}`);
    }
    const other = await readManifest(subtle, page, `${text} `, { pageBytes: PAGE_BYTES });
    assert.equal(other.is, 'other');
    return true;
  },
};

const base64Text = fc
  .string({ unit: fc.constantFrom(...Array.from('AQgwZz09-_+/= \n')), maxLength: 60 })
  .map(utf8);

const base64: Target = {
  name: 'base64',
  inputs: fc.oneof(
    base64Text,
    fc.uint8Array({ maxLength: 50 }).map((bytes) => utf8(toBase64(bytes))),
  ),
  check(input) {
    const text = textOf(input);
    assert.deepEqual(fromBase64(toBase64(input)), input);
    const secret = readSecret(text);
    if (secret !== undefined) assert.deepEqual(readSecret(newSecret(secret)), secret);
    const bytes = fromBase64(text);
    if (bytes === undefined) return false;
    assert.deepEqual(Buffer.from(text, 'base64url'), Buffer.from(bytes), 'Node reads other bytes');
    for (const size of [1, 7, 8, 13, 4096]) checkBitmap(size, text, bytes);
    return true;
  },
};

function checkBitmap(of: number, text: string, bytes: Uint8Array): void {
  const bitmap = new Bitmap(of);
  assert.ok(bitmap.addAll(text));
  let count = 0;
  for (let chunk = 0; chunk < of; chunk += 1) {
    const isSet = (((bytes[Math.floor(chunk / 8)] ?? 0) >> (7 - (chunk % 8))) & 1) === 1;
    assert.equal(bitmap.has(chunk), isSet);
    if (isSet) count += 1;
  }
  assert.equal(bitmap.count, count);
  const again = new Bitmap(of);
  assert.ok(again.addAll(bitmap.toText()) && again.toText() === bitmap.toText());
  for (const beyond of [of, 2 ** 31, 2 ** 32, 2 ** 35, Number.MAX_SAFE_INTEGER]) {
    const before = bitmap.toText();
    assert.ok(!bitmap.has(beyond) && !bitmap.add(beyond), `chunk ${beyond} of ${of} is there`);
    bitmap.remove(beyond);
    assert.ok(bitmap.count === count && bitmap.toText() === before);
  }
}

const ADDRESS = 'a'.repeat(64);
const CHUNKS = 12;
const CHUNK_BYTES = 100;
/** First bytes of lines that are not text messages. */
const BINARY = '\u0001';
const MANIFEST_KNOWN = '\u0002';
const DRAINED = '\u0003';

const sent = [
  { type: 'handshake', page: ADDRESS },
  { type: 'handshake', page: ADDRESS, manifest: '{}' },
  { type: 'handshake', page: 'b'.repeat(64) },
  { type: 'bitfield', chunks: toBase64(Uint8Array.of(0xff, 0x10)) },
  { type: 'bitfield', chunks: '' },
  ...[0, 1, 11, 12, 4095, 4096, 2 ** 31, 2 ** 32, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER].flatMap((chunk) =>
    ['have', 'request', 'reject'].map((type) => ({ type, chunk })),
  ),
  { type: 'bye' },
];
const line = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...sent.map((message) => JSON.stringify(message))) },
  { weight: 1, arbitrary: fc.constantFrom(MANIFEST_KNOWN, DRAINED) },
  {
    weight: 1,
    arbitrary: nearlyJson(sent).map((bytes) => textOf(bytes).replaceAll(/[\n\u0001-\u0003]/g, ' ')),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('', '\0\0\0\0', '\0\0\0\u0001x', '\0\0\0\0xyz', '~~~~x')
      .map((rest) => BINARY + rest),
  },
);

/** A line is one message: several make a dialogue. */
const dialogue: Target = {
  name: 'dialogue',
  inputs: fc.oneof(
    fc
      .array(line, { maxLength: 60 })
      .map((lines) => utf8([JSON.stringify(sent[0]), MANIFEST_KNOWN, ...lines].join('\n'))),
    fc.array(line, { maxLength: 20 }).map((lines) => utf8(lines.join('\n'))),
  ),
  check: (input) => [false, true].map((lossy) => converse(textOf(input).split('\n'), lossy)).some(Boolean),
};

/** Whether they came as far as to speak of the page. */
function converse(lines: readonly string[], lossy: boolean): boolean {
  const here = new Bitmap(CHUNKS);
  for (const chunk of [0, 1, 11]) here.add(chunk);
  let isKnown = false;
  let sent = 0;
  let sentBytes = 0;
  const isChunk = (chunk: number): boolean => chunk >= 0 && chunk < CHUNKS;
  const talk = new Dialogue({
    page: ADDRESS,
    clock: { now: () => 0, wall: () => 0, after: () => () => undefined },
    wire: {
      send(data) {
        sent += 1;
        sentBytes += data.length;
      },
      buffered: () => 0,
      close: () => undefined,
    },
    lossy,
    manifest: () => (isKnown ? '{}' : null),
    here: () => (isKnown ? here : null),
    chunk(chunk) {
      assert.ok(isChunk(chunk) && here.has(chunk), `chunk ${chunk} is asked for`);
      return new Uint8Array(CHUNK_BYTES);
    },
    onOpen: () => undefined,
    onManifest: () => undefined,
    onHave(chunks) {
      for (const chunk of chunks) assert.ok(isChunk(chunk), `they have chunk ${chunk}`);
    },
    onChunk(_, bytes) {
      assert.ok(isKnown && bytes.length > 0);
    },
    onReject: () => undefined,
    onSent: () => undefined,
    onBye: () => talk.end({ bye: false }),
    onFault: () => talk.end({ bye: true }),
  });
  for (const line of lines) {
    const before = { sent, sentBytes };
    if (line.startsWith(BINARY)) talk.receiveBinary(utf8(line.slice(1)));
    else if (line.startsWith(DRAINED)) talk.give();
    else if (line.startsWith(MANIFEST_KNOWN)) {
      isKnown = true;
      talk.known();
    } else talk.receive(line);
    // One message is answered by one, and by what is here where they sent `handshake`.
    assert.ok(
      sent - before.sent <= 3 && sentBytes - before.sentBytes <= 400,
      `one line made ${sent - before.sent} messages`,
    );
  }
  return talk.opened;
}

export const targets: readonly Target[] = [manifest, base64, dialogue];
