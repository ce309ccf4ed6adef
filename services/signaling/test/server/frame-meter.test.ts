import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FrameMeter } from '../../src/server/frame-meter.ts';
import { CONTINUATION, PING, TEXT, frame } from '../support/raw.ts';

const whole = (bytes: number): Buffer => frame({ opcode: TEXT, payload: 'x'.repeat(bytes) });
const begun = frame({ opcode: TEXT, payload: 'x', fin: false });
const more = frame({ opcode: CONTINUATION, payload: 'x', fin: false });
const last = frame({ opcode: CONTINUATION, payload: 'x' });
const ping = frame({ opcode: PING, payload: 'x' });

interface Case {
  readonly title: string;
  readonly bytes: readonly Uint8Array[];
  readonly fragments: number;
  readonly completed: boolean;
  readonly incomplete: boolean;
}

const CASES: readonly Case[] = [
  { title: 'a short message', bytes: [whole(5)], fragments: 0, completed: true, incomplete: false },
  { title: 'an empty message', bytes: [whole(0)], fragments: 0, completed: true, incomplete: false },
  { title: 'a length of 16 bits', bytes: [whole(300)], fragments: 0, completed: true, incomplete: false },
  { title: 'a length of 64 bits', bytes: [whole(70_000)], fragments: 0, completed: true, incomplete: false },
  { title: 'fragments', bytes: [begun, more, last], fragments: 2, completed: true, incomplete: false },
  { title: 'no last fragment', bytes: [begun, more], fragments: 2, completed: false, incomplete: true },
  {
    title: 'a ping between fragments',
    bytes: [begun, ping],
    fragments: 1,
    completed: false,
    incomplete: true,
  },
  { title: 'a ping alone', bytes: [ping], fragments: 0, completed: true, incomplete: false },
  {
    title: 'a frame that is cut short',
    bytes: [whole(300).subarray(0, 200)],
    fragments: 0,
    completed: false,
    incomplete: true,
  },
  {
    title: 'a header that is cut short',
    bytes: [whole(5).subarray(0, 1)],
    fragments: 0,
    completed: false,
    incomplete: true,
  },
  {
    title: 'a message, and the begin of the next',
    bytes: [whole(5), begun],
    fragments: 1,
    completed: true,
    incomplete: true,
  },
];

describe('[LIM-8] [LIM-9] frames are followed wherever their bytes are cut', () => {
  for (const { title, bytes, fragments, completed, incomplete } of CASES) {
    const all = Buffer.concat(bytes);
    for (const cut of [all.length, 7, 1]) {
      test(`${title}, in chunks of ${cut} bytes`, () => {
        const meter = new FrameMeter();
        const seen = { fragments: 0, completed: false };
        for (let at = 0; at < all.length; at += cut) {
          seen.fragments += meter.read(all.subarray(at, at + cut));
          seen.completed ||= meter.hasCompleted;
        }
        assert.deepEqual(seen, { fragments, completed });
        assert.equal(meter.isIncomplete, incomplete);
      });
    }
  }
});
