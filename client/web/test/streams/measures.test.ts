/** Counts and keeps arriving data, within a limit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatBitRate,
  formatTime,
  formatDuration,
  formatCount,
  formatRate,
  formatDecimalSize,
} from '../../src/streams/format.ts';
import { hexRows, LINES, Lines, MAX_LINE_CHARS } from '../../src/streams/lines.ts';
import { HISTORY_SECONDS, Meter } from '../../src/streams/meter.ts';

test('rates cover the last whole seconds', () => {
  const meter = new Meter(10_000);
  for (let ms = 10_000; ms < 15_000; ms += 40) meter.count(5000, ms);
  const { bits, messages, history } = meter.read(15_010);
  assert.equal(bits, 1_000_000);
  assert.equal(messages, 25);
  assert.deepEqual(
    history.slice(-6),
    [0, 1, 1, 1, 1, 1].map((megabits) => megabits * 1_000_000),
  );
  assert.equal(history.length, HISTORY_SECONDS);
  assert.equal(meter.bytes, 625_000);
});

test('a stream that ended has a rate of zero, and its history moves on until it is empty', () => {
  const meter = new Meter(0);
  meter.count(1000, 500);
  assert.equal(meter.read(1000).bits, 8000);
  assert.equal(meter.read(5000).bits, 0);
  assert.equal(meter.read(HISTORY_SECONDS * 1000).history[0], 8000);
  assert.deepEqual(
    meter.read((HISTORY_SECONDS + 1) * 1000).history.filter((bits) => bits > 0),
    [],
  );
  for (let second = 62; second < 70; second++) meter.count(1000, second * 1000);
  assert.equal(Math.max(...meter.read(10_000_000).history), 0, 'after a long sleep of the computer');
});

test('the last lines are kept, oldest first, for any number of lines', () => {
  const lines = new Lines();
  const many = 3 * LINES + 7;
  for (let number = 0; number < many; number++) lines.push(`line ${number}`, { at: 0, bytes: 6 });
  const kept = lines.read();
  assert.equal(kept.length, LINES);
  assert.equal(kept[0]?.text, `line ${many - LINES}`);
  assert.equal(kept.at(-1)?.text, `line ${many - 1}`);
});

test('a long line is cut and states its length; bytes are shown in hexadecimal', () => {
  const lines = new Lines();
  lines.push('é'.repeat(10_000), { at: 0, bytes: 20_000 });
  lines.push(
    Uint8Array.from({ length: 100 }, (_, index) => index),
    { at: 0, bytes: 100 },
  );
  const [long, bytes] = lines.read();
  assert.deepEqual([long?.text.length, long?.cut, long?.bytes], [MAX_LINE_CHARS, true, 20_000]);
  assert.ok(bytes?.binary && bytes.cut && bytes.text.startsWith('00 01 02'));
});

test('bytes are shown in rows of sixteen, with their readable characters', () => {
  const rows = hexRows(new TextEncoder().encode('Hello, world!\n\u0000 and more'));
  assert.deepEqual(
    rows.map(({ offset, text }) => [offset, text]),
    [
      ['0000', 'Hello, world!·· '],
      ['0010', 'and more'],
    ],
  );
});

test('figures are short', () => {
  assert.deepEqual(
    [
      formatBitRate(0),
      formatBitRate(999),
      formatBitRate(1_120_000),
      formatBitRate(53_400_000),
      formatDecimalSize(1316),
      formatDecimalSize(2 ** 40),
    ],
    ['0 bit/s', '999 bit/s', '1.12 Mbit/s', '53.4 Mbit/s', '1.32 kB', '1.10 TB'],
  );
  assert.deepEqual(
    [formatDuration(7000), formatDuration(760_000), formatDuration(11_049_000)],
    ['0:07', '12:40', '3:04:09'],
  );
  assert.deepEqual(
    [formatRate(4.97), formatRate(30.3), formatRate(10_000)],
    ['5.0 /s', '30 /s', '10\u202f000 /s'],
  );
  assert.equal(formatCount(1_234_567), '1\u202f234\u202f567');
  assert.match(formatTime(0), /^\d\d:00:00\.000$|^\d\d:30:00\.000$/);
});
