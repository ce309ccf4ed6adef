import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CAMERA, SCREEN, type Quality } from '../../src/sfu/codecs.ts';
import type { MediaPorts } from '../../src/sfu/media-ports.ts';
import { PicturePublisher } from '../../src/sfu/picture-publisher.ts';
import type { TrackWriter } from '../../src/sfu/track-writer.ts';
import { fakeClock } from '../fakes/clock.ts';

/** Publishes a picture to which all subscribe; returns the commands of each encoder, and the sizes in each written catalog. */
function showing(qualities: readonly Quality[], settings: MediaTrackSettings = {}) {
  const clock = fakeClock();
  const calls: string[] = [];
  const catalogs: string[] = [];
  const written: string[] = [];
  const encoders: Pick<VideoEncoderInit, 'output'>[] = [];
  let open = 0;
  let see: (frame: VideoFrame) => void = () => undefined;
  class Encoder {
    state = 'unconfigured';
    encodeQueueSize = 0;
    readonly output: VideoEncoderInit['output'];
    constructor({ output }: VideoEncoderInit) {
      this.output = output;
      encoders.push(this);
    }
    configure({ width, height }: VideoEncoderConfig): void {
      this.state = 'configured';
      calls.push(`${width}x${height}`);
    }
    encode({ displayWidth, displayHeight }: VideoFrame, { keyFrame }: VideoEncoderEncodeOptions): void {
      calls.push(`${keyFrame === true ? 'key' : 'delta'} of ${displayWidth}x${displayHeight}`);
    }
    close(): void {
      this.state = 'closed';
    }
  }
  const media = {
    VideoEncoder: Encoder,
    readVideo: (_track: MediaStreamTrack, onFrame: typeof see) => {
      see = onFrame;
      return { close: () => undefined };
    },
  } as unknown as MediaPorts;
  const track = { getSettings: () => settings } as MediaStreamTrack;
  const sizes = (): string =>
    publisher
      .configs()
      .reduce((all, [, one]) => `${all} ${one.codedWidth}x${one.codedHeight}`, '')
      .trim();
  const publisher = new PicturePublisher(track, {
    source: 'screen',
    codec: 'vp8',
    qualities,
    media,
    clock,
    writer: (name) =>
      ({
        name,
        wanted: true,
        begin: () => undefined,
        write: () => written.push(`frame after ${catalogs.length} catalogs`),
        end: () => undefined,
      }) as unknown as TrackWriter,
    now: () => clock.now() * 1000,
    onShape: () => catalogs.push(sizes()),
  });
  const frame = (displayWidth: number, displayHeight: number): VideoFrame => {
    open += 1;
    return {
      displayWidth,
      displayHeight,
      timestamp: clock.now() * 1000,
      clone: () => frame(displayWidth, displayHeight),
      close: () => (open -= 1),
    } as unknown as VideoFrame;
  };
  return {
    clock,
    catalogs,
    publisher,
    written,
    /** Outputs a key frame of the first rendition, in these colors. */
    output(colorSpace: VideoColorSpaceInit) {
      const chunk = { type: 'key', byteLength: 0, copyTo: () => undefined, timestamp: 0 };
      encoders[0]?.output(chunk as unknown as EncodedVideoChunk, {
        decoderConfig: { codec: 'vp8', colorSpace },
      });
    },
    open: () => open,
    /** The commands of encoders since the previous call. */
    calls: () => calls.splice(0),
    see: (width: number, height: number) => see(frame(width, height)),
  };
}

test('after a phone is turned its picture is encoded in the new size from a key frame on, and the catalog states it', async () => {
  const phone = showing(CAMERA, { width: 640, height: 360 });
  assert.deepEqual(phone.calls(), ['320x180', '640x360']);
  phone.see(640, 360);
  await phone.clock.advance(100);
  phone.see(640, 360);
  phone.calls();
  await phone.clock.advance(100);
  phone.see(360, 640);
  assert.deepEqual(phone.calls(), ['102x180', '202x360', 'key of 360x640', 'key of 360x640']);
  assert.deepEqual(phone.catalogs, ['102x180 202x360']);
  await phone.clock.advance(100);
  phone.see(360, 640);
  assert.deepEqual(phone.calls(), ['delta of 360x640', 'delta of 360x640']);
});

test('a screen of unknown size is encoded in its own size', () => {
  const screen = showing(SCREEN);
  screen.calls();
  screen.see(1920, 1080);
  assert.deepEqual(screen.calls(), ['1920x1080', 'key of 1920x1080']);
  assert.deepEqual(screen.catalogs, ['1920x1080']);
});

test('a window that is being resized is adapted once a second, and finally also if it shows nothing new', async () => {
  const screen = showing(SCREEN, { width: 800, height: 600 });
  for (let width = 802; width < 882; width += 2) {
    screen.see(width, 600);
    await screen.clock.advance(125);
  }
  assert.ok(screen.catalogs.length <= 6, `${screen.catalogs.length} in five seconds`);
  await screen.clock.advance(1000);
  assert.equal(screen.catalogs.at(-1), '880x600');
  assert.deepEqual(screen.calls().slice(-2), ['880x600', 'key of 880x600']);
  assert.deepEqual([screen.open(), screen.clock.pending], [0, 0]);
});

test('a picture that ends while it waits for the adaptation is closed', async () => {
  const screen = showing(SCREEN, { width: 800, height: 600 });
  screen.see(400, 600);
  screen.see(402, 600);
  assert.equal(screen.open(), 1);
  screen.publisher.close();
  await screen.clock.advance(2000);
  assert.deepEqual([screen.open(), screen.clock.pending], [0, 0]);
  assert.deepEqual(screen.catalogs, ['400x600']);
});

test('[MEDIA-14] the catalog has the colors of the encoder, for all renditions, before the first frame is written', () => {
  const camera = showing(CAMERA, { width: 640, height: 360 });
  const colors = (): unknown[] => camera.publisher.configs().map(([, { colorSpace }]) => colorSpace);
  assert.deepEqual(colors(), [undefined, undefined]);
  camera.see(640, 360);
  const space = { matrix: 'smpte170m', fullRange: false } as const;
  camera.output(space);
  assert.deepEqual(camera.written, ['frame after 1 catalogs']);
  assert.deepEqual(colors(), [space, space]);
  camera.output(space);
  assert.equal(camera.catalogs.length, 1, 'it is not written again');
});
