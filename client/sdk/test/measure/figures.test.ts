import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countsOf, Rates, type Count } from '../../src/measure/figures.ts';

const count: Count = {
  source: 'camera',
  codec: 'vp8',
  width: 320,
  height: 180,
  bytes: 1000,
  frames: 10,
  packets: 90,
  lost: 10,
  waitedMs: 500,
  waits: 10,
  freezes: null,
};

describe('figures', () => {
  it('cover the time since the previous query', () => {
    const rates = new Rates();
    assert.equal(rates.of('a', count, 1000).kilobitsPerSecond, 0, 'nothing is known of a first time');
    rates.settle();
    const more = { ...count, bytes: 26_000, frames: 40, packets: 189, lost: 11, waitedMs: 2900, waits: 40 };
    const { source, codec, ...found } = rates.of('a', more, 3000);
    assert.deepEqual([source, codec], ['camera', 'vp8']);
    assert.deepEqual(found, {
      width: 320,
      height: 180,
      framesPerSecond: 15,
      kilobitsPerSecond: 100,
      lossPercent: 1,
      bufferMs: 80,
      freezes: null,
    });
  });

  it('restart when counters restart, and drop ended tracks', () => {
    const rates = new Rates();
    rates.of('a', count, 1000);
    rates.settle();
    assert.equal(rates.of('a', { ...count, bytes: 10 }, 2000).kilobitsPerSecond, 0);
    rates.settle();
    rates.settle();
    assert.equal(rates.of('a', { ...count, bytes: 9000 }, 3000).kilobitsPerSecond, 0);
  });

  it('of a connection contain each of its tracks', () => {
    const report = new Map<string, unknown>([
      ['c', { type: 'codec', mimeType: 'video/VP8' }],
      ['r', { type: 'remote-inbound-rtp', packetsLost: 3 }],
      [
        'i',
        {
          type: 'inbound-rtp',
          kind: 'audio',
          mid: '0',
          bytesReceived: 10,
          packetsReceived: 2,
          packetsLost: -1,
          jitterBufferDelay: 0.5,
          jitterBufferEmittedCount: 10,
        },
      ],
      [
        'o',
        {
          type: 'outbound-rtp',
          kind: 'video',
          mid: '1',
          codecId: 'c',
          remoteId: 'r',
          bytesSent: 70,
          packetsSent: 7,
          framesEncoded: 4,
          frameWidth: 640,
          frameHeight: 360,
        },
      ],
      ['x', { type: 'inbound-rtp', kind: 'video', mid: '9', bytesReceived: 1 }],
    ]);
    const { received, sent } = countsOf(report, {
      received: new Map([['0', 'microphone']]),
      sent: new Map([['1', 'camera']]),
    });
    assert.deepEqual(
      received.map(({ source, bytes, frames, lost, waitedMs }) => [source, bytes, frames, lost, waitedMs]),
      [['microphone', 10, null, 0, 500]],
    );
    assert.deepEqual(
      sent.map(({ source, codec, width, bytes, frames, lost }) => [
        source,
        codec,
        width,
        bytes,
        frames,
        lost,
      ]),
      [['camera', 'VP8', 640, 70, 4, 3]],
    );
  });
});
