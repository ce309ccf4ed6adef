/** The reader of MPEG-TS: output of ffmpeg, from any byte on, and invalid input. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { looksLikeMpegTs, Packets, readPacket } from '../../src/streams/transport/packets.ts';
import { ProgramReader, tablesOf, type Part } from '../../src/streams/transport/program.ts';
import { checksum, readMap, Section } from '../../src/streams/transport/tables.ts';
import {
  AUDIO_PID,
  frame,
  join,
  MP2_FRAME,
  MP3_FRAME,
  MPEG_PICTURE,
  tables,
  VIDEO_PID,
} from './transport-stream.ts';

const codecs = (parts: readonly Part[]): readonly (string | undefined)[][] =>
  parts.flatMap((part) =>
    part.what === 'program' ? [[part.program.video?.codec, part.program.audio?.codec]] : [],
  );
const passed = (parts: readonly Part[]): number =>
  parts.reduce((sum, part) => sum + (part.what === 'packets' ? part.bytes.length / 188 : 0), 0);

describe('packets', () => {
  const stream = join(...Array.from({ length: 12 }, (_, index) => frame([index], { counter: index })));

  test('are found however the messages are split', () => {
    for (const size of [1, 7, 187, 188, 189, 500, stream.length]) {
      const packets = new Packets();
      const found: number[] = [];
      for (let at = 0; at < stream.length; at += size)
        for (const run of packets.push(stream.slice(at, at + size)))
          for (let start = 0; start < run.length; start += 188)
            found.push(readPacket(run.subarray(start, start + 188)).counter);
      assert.deepEqual(
        found,
        Array.from({ length: 12 }, (_, index) => index),
        `in pieces of ${size}`,
      );
    }
  });

  test('are found from the middle of a packet on, and again after other bytes', () => {
    const packets = new Packets();
    const runs = packets.push(join(stream.subarray(100), new Uint8Array(333), stream));
    assert.equal(
      runs.reduce((sum, run) => sum + run.length / 188, 0),
      11 + 12,
    );
  });

  test('bytes that contain no packets are not kept', () => {
    const packets = new Packets();
    const noise = Uint8Array.from({ length: 10_000 }, (_, index) => (index * 7919) % 71);
    for (let round = 0; round < 100; round++) assert.deepEqual(packets.push(noise), []);
    assert.equal(packets.push(stream).length, 1);
  });

  test('a message is recognised as MPEG-TS by its sync bytes, and not by one alone', () => {
    assert.ok(looksLikeMpegTs(stream));
    assert.ok(looksLikeMpegTs(stream.subarray(0, 188)));
    assert.ok(looksLikeMpegTs(stream.subarray(50)));
    assert.ok(!looksLikeMpegTs(Uint8Array.of(0x47, 1, 2, 3)));
    assert.ok(!looksLikeMpegTs(new TextEncoder().encode('Good morning. '.repeat(100))));
    assert.ok(!looksLikeMpegTs(new Uint8Array(10_000)));
  });
});

describe('a program', () => {
  test('is known from the tables if they state the codec', () => {
    const reader = new ProgramReader();
    const parts = reader.push(join(tables('h264 aac'), frame([1]), frame([2], { counter: 1 })));
    assert.deepEqual(codecs(parts), [['h264', 'aac']]);
    assert.equal(passed(parts), 2, 'the tables are read, the tracks passed on');
    assert.deepEqual(codecs(new ProgramReader().push(join(tables('hevc opus'), frame([1]), frame([2])))), [
      ['hevc', 'opus'],
    ]);
  });

  test('MP2 and MP3 have one type in the tables: the header of a frame tells them apart', () => {
    for (const [sound, audio] of [
      [MP2_FRAME, 'mp2'],
      [MP3_FRAME, 'mp3'],
    ] as const) {
      const parts = new ProgramReader().push(
        join(
          tables('mpeg mpeg'),
          frame(MPEG_PICTURE),
          frame(sound, { pid: AUDIO_PID }),
          frame([9], { counter: 1 }),
        ),
      );
      assert.deepEqual(codecs(parts), [['mpeg-video', audio]]);
      assert.equal(passed(parts), 3, 'the packets read to find the codec are passed on too');
    }
  });

  test('audio that is announced and never arrives delays the video only for a moment', () => {
    const reader = new ProgramReader();
    const parts: Part[] = [...reader.push(tables('h264 mpeg'))];
    for (let index = 0; index < 1000 && codecs(parts).length === 0; index++)
      parts.push(
        ...reader.push(join(frame([1], { counter: index * 2 }), frame([2], { counter: index * 2 + 1 }))),
      );
    assert.deepEqual(codecs(parts), [['h264', 'mp2']]);
  });

  test('different tables begin another program, and repeated ones do not', () => {
    const reader = new ProgramReader();
    const one = join(tables('h264 aac'), frame([1]));
    assert.deepEqual(codecs(reader.push(join(one, one, one))), [['h264', 'aac']]);
    assert.deepEqual(codecs(reader.push(join(tables('hevc opus'), frame([1]), frame([1])))), [
      ['hevc', 'opus'],
    ]);
  });

  test('a clock that jumps restarts it: another sender, or the same one after a pause', () => {
    const reader = new ProgramReader();
    const at = (clock: number): readonly Part[] =>
      reader.push(join(frame([1], { clock }), frame([2]), frame([3])));
    reader.push(tables('h264 aac'));
    assert.equal(codecs(at(100)).length, 1);
    assert.equal(codecs(at(100.5)).length, 0);
    assert.equal(codecs(at(3)).length, 1, 'back');
    assert.equal(codecs(at(3.04)).length, 0);
    assert.equal(codecs(at(9)).length, 1, 'ahead');
  });

  test('missing packets are detected by their continuity counters', () => {
    const reader = new ProgramReader();
    reader.push(tables('h264 aac'));
    for (const counter of [0, 1, 2, 5, 6, 15, 0])
      reader.push(join(frame([1], { counter }), frame([9], { pid: 0x300 }), frame([9], { pid: 0x300 })));
    assert.equal(reader.gaps, 2 + 8);
  });

  test('a frame without end is cut off, so that no player collects it', () => {
    const reader = new ProgramReader();
    reader.push(join(tables('h264 aac'), frame([1]), frame([2])));
    const full = frame(Array.from({ length: 175 }, () => 1)).map((byte, at) => (at === 1 ? 0x01 : byte));
    const endless = join(...Array.from({ length: 500 }, () => full));
    let packets = 0;
    for (let round = 0; round < 200; round++) packets += passed(reader.push(endless));
    assert.ok(packets * 184 < 11 * 2 ** 20, `${packets} packets`);
  });

  test('the output for a player can be read again, with a correct checksum and only the chosen tracks', () => {
    const [part] = new ProgramReader().push(join(tables('hevc opus'), frame([1]), frame([2])));
    assert.ok(part?.what === 'program' && part.program.audio);
    const written = tablesOf(part.program, [part.program.audio.track]);
    const map = written.subarray(188);
    const length = 3 + (((map[6] ?? 0) & 0xf) << 8) + (map[7] ?? 0);
    assert.equal(checksum([...map.subarray(5, 5 + length)]), 0);
    const section = new Section().push(readPacket(map));
    assert.ok(section);
    assert.deepEqual(readMap(section), { clockPid: VIDEO_PID, tracks: [part.program.audio.track] });
  });

  test('the checksum is the one ffmpeg writes', () => {
    for (const tracks of ['h264 aac', 'mpeg mpeg', 'hevc opus'] as const) {
      const map = tables(tracks).subarray(188);
      assert.equal(checksum([...map.subarray(5, 8 + (map[7] ?? 0))]), 0, tracks);
    }
  });

  test('random bytes and broken packets cause no exception', () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 0x7fffffff;
      return seed % below;
    };
    const good = join(
      tables('mpeg mpeg'),
      frame(MPEG_PICTURE, { clock: 1 }),
      frame(MP2_FRAME, { pid: AUDIO_PID }),
    );
    for (let round = 0; round < 3000; round++) {
      const reader = new ProgramReader();
      const broken = good.slice();
      for (let hit = 0; hit < 1 + random(40); hit++) broken[random(broken.length)] = random(256);
      reader.push(broken.subarray(random(200)));
      reader.push(good);
    }
  });
});
