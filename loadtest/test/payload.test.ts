import assert from 'node:assert/strict';
import test from 'node:test';
import { directedText, receivedText } from '@parley/protocol/directed';
import { FrameReader, TEXT, writeHead } from '../src/frames.ts';
import { minDialect } from '../src/generator/dialect-min.ts';
import { parleyDialect } from '../src/generator/dialect-parley.ts';
import { BYTES, headOf, isIntact, tailOf, type Kind } from '../src/generator/payload.ts';

const KINDS: readonly Kind[] = ['offer', 'answer', 'candidate', 'message'];
const READER = 'pbbbbbbbbbbbbbbbb';
const SENDER = 'paaaaaaaaaaaaaaaa';

test('a payload is a JSON value of exactly the bytes promised', () => {
  for (const kind of KINDS) {
    const text = headOf(kind, 42) + tailOf(kind);
    assert.equal(Buffer.byteLength(text), BYTES[kind]);
    assert.equal((JSON.parse(text) as { n: string }).n, '0000002a');
  }
});

test('a changed byte, another length and another count are noticed', () => {
  const good = Buffer.from(headOf('offer', 7) + tailOf('offer'));
  assert.equal(isIntact('offer', 7, good, 0, good.length), true);
  assert.equal(isIntact('offer', 8, good, 0, good.length), false);
  assert.equal(isIntact('offer', 7, good, 0, good.length - 1), false);
  for (const at of [3, 20, 1000, good.length - 1]) {
    const bad = Buffer.from(good);
    bad[at] = (bad[at] ?? 0) ^ 1;
    assert.equal(isIntact('offer', 7, bad, 0, bad.length), false, `byte ${at}`);
  }
});

test("Parley's dialect writes and reads directed messages as the protocol does", () => {
  const dialect = parleyDialect();
  const payload = headOf('message', 3) + tailOf('message');
  const written = dialect.before(READER, 3) + payload + dialect.after;
  assert.equal(written, directedText(READER, 'm3', payload));
  const received = `<${SENDER}\n${payload}`;
  assert.equal(receivedText(received)?.from, SENDER);
  const bytes = Buffer.from(received);
  const read = dialect.read(bytes, 0, bytes.length);
  assert.ok(read.kind === 'signal');
  assert.equal(read.from, SENDER);
  assert.equal(isIntact('message', 3, bytes, read.at, bytes.length), true);
});

test("the references' dialect survives being parsed and written again", () => {
  const payload = headOf('message', 3) + tailOf('message');
  const said = JSON.parse(minDialect.before(READER, 3) + payload + minDialect.after) as { data: unknown };
  const bytes = Buffer.from(JSON.stringify({ type: 'signal', from: SENDER, data: said.data }));
  const read = minDialect.read(bytes, 0, bytes.length);
  assert.ok(read.kind === 'signal');
  assert.equal(read.from, SENDER);
  assert.equal(isIntact('message', 3, bytes, read.at, bytes.length - minDialect.after.length), true);
});

test('a refusal of Parley is a failure, not a roster change', () => {
  const bytes = Buffer.from('{"type":"error","code":"RATE_LIMITED","message":"","fatal":true}');
  assert.equal(parleyDialect().read(bytes, 0, bytes.length).kind, 'refused');
});

test('frames are read however the bytes are cut', () => {
  for (const length of [0, 5, 125, 126, 65_535, 65_536]) {
    const frame = Buffer.alloc(length + 14);
    const mask = Buffer.from([1, 2, 3, 4]);
    const head = writeHead(frame, 0, TEXT, length, 0x80);
    mask.copy(frame, head);
    for (let at = 0; at < length; at += 1) frame[head + 4 + at] = (at & 0xff) ^ (mask[at & 3] ?? 0);
    const whole = frame.subarray(0, head + 4 + length);
    for (const cut of [1, 3, head + 2, whole.length - 1].filter((at) => at < whole.length)) {
      const reader = new FrameReader();
      const read: Buffer[] = [];
      const keep = (_opcode: number, bytes: Buffer, start: number, end: number): void => {
        read.push(Buffer.from(bytes.subarray(start, end)));
      };
      assert.equal(reader.feed(Buffer.from(whole.subarray(0, cut)), keep), true);
      assert.equal(reader.feed(Buffer.from(whole.subarray(cut)), keep), true);
      assert.equal(read.length, 1, `${length} bytes cut at ${cut}`);
      assert.ok(read[0]?.every((byte, at) => byte === (at & 0xff)));
    }
  }
});
