import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readFragment, readHeader } from '../../src/sfu/cmaf.ts';
import { box, bytes, u32 } from '../fakes/boxes.ts';

const mdhd = box('mdhd', u32(0, 0, 0, 90_000, 0, 0));
const trex = box('trex', u32(0, 1, 1, 3000, 4, 0));
const HEADER = bytes(box('ftyp', u32(0)), box('moov', box('trak', box('mdia', mdhd)), box('mvex', trex)));

/** A fragment with two samples that state their durations, sizes and composition offsets. */
function fragment({ sizes = [2, 3] as readonly number[], data = [1, 2, 3, 4, 5] } = {}): Uint8Array {
  const samples = sizes.flatMap((size, at) => u32(3000, size, at * 1500));
  const trun = box('trun', u32(0x00_0b01, sizes.length, 0), samples);
  const traf = box('traf', box('tfhd', u32(0x02_0000, 1)), box('tfdt', u32(0x0100_0000, 0, 180_000)), trun);
  return bytes(box('moof', box('mfhd', u32(0, 1)), traf), box('mdat', data));
}

const track = readHeader(HEADER);

describe('a fragment of MP4', () => {
  it('has the samples and times of its boxes', () => {
    assert.deepEqual(track, { timescale: 90_000, duration: 3000, size: 4 });
    assert.ok(track);
    assert.deepEqual(readFragment(fragment(), track), [
      { timestamp: 2_000_000, payload: Uint8Array.of(1, 2) },
      { timestamp: 2_050_000, payload: Uint8Array.of(3, 4, 5) },
    ]);
  });

  it('takes missing values from the header of the track', () => {
    assert.ok(track);
    const trun = box('trun', u32(0, 2));
    const traf = box('traf', box('tfhd', u32(0, 1)), box('tfdt', u32(0, 90_000)), trun);
    const whole = bytes(box('moof', traf), box('mdat', [1, 2, 3, 4, 5, 6, 7, 8]));
    assert.deepEqual(
      readFragment(whole, track).map(({ timestamp, payload }) => [timestamp, payload.length]),
      [
        [1_000_000, 4],
        [1_033_333, 4],
      ],
    );
  });

  it('that is broken, cut off or inconsistent has no samples', () => {
    assert.ok(track);
    const whole = fragment();
    for (let end = 0; end < whole.length; end += 1)
      assert.deepEqual(readFragment(whole.subarray(0, end), track), [], `cut off at ${end}`);
    assert.deepEqual(readFragment(fragment({ sizes: [2, 4] }), track), []);
    assert.deepEqual(readFragment(fragment({ sizes: [0xffff_ffff] }), track), []);
    assert.deepEqual(readFragment(new TextEncoder().encode('anything else at all'), track), []);
  });

  it('needs a header with the time scale', () => {
    assert.equal(readHeader(HEADER.subarray(0, 30)), undefined);
    assert.equal(readHeader(new Uint8Array()), undefined);
    assert.equal(
      readHeader(bytes(box('moov', box('trak', box('mdia', box('mdhd', u32(0, 0, 0, 0))))))),
      undefined,
    );
  });
});
