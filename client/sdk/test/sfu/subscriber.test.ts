import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import { Broadcast, Time } from '@moq/net';
import { CATALOG_TRACK, type AudioConfig, type Catalog } from '../../src/sfu/catalog.ts';
import { encodeFrame } from '../../src/sfu/frames.ts';
import type { MediaPorts, Voices } from '../../src/sfu/media-ports.ts';
import { Publisher } from '../../src/sfu/publisher.ts';
import { Subscriber } from '../../src/sfu/subscriber.ts';
import { TrackWriter } from '../../src/sfu/track-writer.ts';
import { fakeClock } from '../fakes/clock.ts';
import { fakeStream, fakeTrack } from '../fakes/media.ts';
import { participant } from '../fakes/messages.ts';

const OPUS: AudioConfig = {
  codec: 'opus',
  container: { kind: 'legacy' },
  sampleRate: 48_000,
  numberOfChannels: 1,
};

/** An audio decoder that has more to do than it can. */
const BEHIND = {
  AudioDecoder: class {
    readonly state = 'configured';
    readonly decodeQueueSize = 1000;
    configure(): void {
      // Nothing is decoded.
    }
    close(): void {
      // Nothing is held.
    }
  } as unknown as typeof AudioDecoder,
};

/** The contents of the mix, in the order in which voices arrived: the microphone, then the audio of the screen. */
function watching(behind: Partial<MediaPorts> = {}) {
  const blended: number[] = [];
  let changes = 0;
  const voices: Voices = {
    mix: fakeStream(),
    createVoice: () => {
      const nth = blended.push(0) - 1;
      return {
        track: fakeTrack('audio'),
        blend: (volume) => void (blended[nth] = volume),
        play: () => true,
        close: () => void (blended[nth] = 0),
      };
    },
    close: () => undefined,
  };
  const media = {
    createPicture: () => ({ track: fakeTrack('video'), show: () => undefined, close: () => undefined }),
    ...behind,
  } as unknown as MediaPorts;
  const subscriber = new Subscriber({
    participant: participant('a'),
    keys: () => null,
    media,
    voices,
    clock: fakeClock(),
    onChange: () => (changes += 1),
    onReceived: () => undefined,
  });
  const broadcast = new Broadcast.Producer();
  const catalogs = broadcast.createTrack(CATALOG_TRACK);
  const publishes = async (...tracks: readonly string[]): Promise<void> => {
    const catalog: Catalog = { audio: { renditions: Object.fromEntries(tracks.map((one) => [one, OPUS])) } };
    catalogs.writeString(JSON.stringify(catalog));
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  };
  subscriber.use(broadcast.consume(), '1');
  return { subscriber, broadcast, catalogs, blended, publishes, changes: () => changes };
}

test('a participant in the mix is in it with microphone and screen audio, also if enabled later, as loud as was set', async () => {
  const { subscriber, blended, publishes } = watching();
  await publishes('microphone');
  assert.deepEqual(blended, [0]);
  subscriber.mix(0.5);
  assert.deepEqual(blended, [0.5]);
  await publishes('microphone', 'screen-audio');
  assert.deepEqual(blended, [0.5, 0.5]);
  subscriber.mix(0);
  assert.deepEqual(blended, [0, 0]);
});

test('a voice that ends, and that of a previous page of the same participant, leave nothing in the mix', async () => {
  const { subscriber, blended, publishes } = watching();
  subscriber.mix(1);
  await publishes('microphone', 'screen-audio');
  await publishes('microphone');
  assert.deepEqual(blended, [1, 0]);
  subscriber.close();
  assert.deepEqual(blended, [0, 0]);
});

test('[MEDIA-14] tracks that a participant enables after a move to another relay are accepted, however many moves came before', async () => {
  const { subscriber } = watching();
  const media = {} as MediaPorts;
  const publisher = new Publisher({ media, clock: fakeClock(), codec: null, keys: null });
  const turn = async (microphone: MediaStreamTrack | null): Promise<boolean> => {
    publisher.set({ microphone, camera: null, screen: null });
    for (let count = 0; count < 5; count += 1) await setImmediate();
    return subscriber.track('microphone') !== null;
  };
  const first = publisher.broadcast();
  subscriber.use(first.consume(), '2');
  for (const on of [true, false, true, false]) assert.equal(await turn(on ? fakeTrack('audio') : null), on);
  subscriber.use(publisher.broadcast().consume(), '2');
  first.close();
  for (const on of [true, false, true]) assert.equal(await turn(on ? fakeTrack('audio') : null), on);
  publisher.close();
  subscriber.close();
});

test('[MEDIA-14] a participant that sent a picture above the limit is not shown again, under any track name', async () => {
  const { subscriber, broadcast, catalogs } = watching();
  const huge = new Uint8Array([0, 0, 0, 0x9d, 0x01, 0x2a, 0xff, 0x3f, 0xff, 0x3f]);
  const shows = async (name: string): Promise<MediaStreamTrack | null> => {
    const track = broadcast.createTrack(name);
    const group = track.appendGroup();
    const timestamp = Time.Timestamp.fromMicros(0);
    group.writeFrame({ timestamp, payload: encodeFrame({ timestamp: 0, payload: huge }) });
    const picture = { codec: 'vp8', container: OPUS.container, codedWidth: 320, codedHeight: 180 };
    catalogs.writeString(JSON.stringify({ video: { renditions: { [name]: picture } } }));
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
    return subscriber.track('camera');
  };
  subscriber.show({ width: 320, height: 180 });
  await shows('camera/a');
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  assert.equal(subscriber.track('camera'), null);
  assert.equal(await shows('camera/b'), null);
  assert.equal(subscriber.troubled(false), null);
  subscriber.close();
});

test('a camera that is not fetched because there is too much to receive is paused, until it is fetched again', async () => {
  const { subscriber, catalogs, changes } = watching();
  const camera = { codec: 'vp8', container: OPUS.container, codedWidth: 320, codedHeight: 180 };
  catalogs.writeString(JSON.stringify({ video: { renditions: { camera } } }));
  const shows = async (...how: Parameters<Subscriber['show']>): Promise<[boolean, boolean]> => {
    subscriber.show(...how);
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
    return [subscriber.track('camera') !== null, subscriber.videoPaused];
  };
  const size = { width: 320, height: 180 };
  assert.deepEqual(await shows(size), [true, false]);
  assert.deepEqual(await shows(null, true), [false, true]);
  const before = changes();
  assert.deepEqual(await shows(null), [false, false]);
  assert.equal(changes(), before + 1, 'that it is not shown at all is a change');
  assert.deepEqual(await shows(size), [true, false]);
  subscriber.close();
});

test('in a blocked page voices that are too late to be heard are trouble, and pictures are not', async () => {
  const { subscriber, broadcast, catalogs } = watching(BEHIND);
  const picture = { codec: 'vp8', container: OPUS.container, codedWidth: 320, codedHeight: 180 };
  const voice = broadcast.createTrack('microphone');
  const camera = broadcast.createTrack('camera');
  const catalog: Catalog = {
    video: { renditions: { camera: picture } },
    audio: { renditions: { microphone: OPUS } },
  };
  subscriber.show({ width: 320, height: 180 });
  catalogs.writeString(JSON.stringify(catalog));
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  assert.equal(subscriber.troubled(true), false);
  for (let nth = 0; nth < 2; nth += 1) camera.appendGroup().close(new Error('cut'));
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  assert.equal(subscriber.troubled(true), false);
  for (let nth = 0; nth < 2; nth += 1) camera.appendGroup().close(new Error('cut'));
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  assert.equal(subscriber.troubled(false), true);
  for (const timestamp of [0, 20_000]) {
    const group = voice.appendGroup();
    group.writeFrame({
      timestamp: Time.Timestamp.fromMicros(timestamp),
      payload: encodeFrame({ timestamp, payload: new Uint8Array([1]) }),
    });
    group.close();
  }
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  assert.equal(subscriber.troubled(true), true);
  assert.equal(subscriber.troubled(true), false);
  subscriber.close();
});

test('a track whose broadcast ended is no longer written, and has no subscriber', async () => {
  const writer = new TrackWriter('camera/low');
  let changes = 0;
  writer.onWanted = () => (changes += 1);
  const broadcast = new Broadcast.Producer();
  writer.serve(broadcast);
  const reader = broadcast.consume().track('camera/low').subscribe();
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  assert.equal(writer.wanted, true);
  broadcast.close();
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  assert.deepEqual([writer.wanted, changes], [false, 2]);
  reader.close();
});

test('[MEDIA-10] nothing counts as received while the relay is silent, until it answers or another connection delivers', async () => {
  const { subscriber, broadcast, publishes } = watching();
  await publishes();
  assert.equal(subscriber.ready, true);
  subscriber.suspend();
  assert.equal(subscriber.ready, false);
  subscriber.resume();
  assert.equal(subscriber.ready, true);
  subscriber.suspend();
  subscriber.use(broadcast.consume(), '1');
  assert.equal(subscriber.ready, true);
});

test('[MOD-15] of a muted participant no sound is subscribed, whatever its catalog says, until the mute is lifted', async () => {
  const { subscriber, blended, publishes } = watching();
  subscriber.mix(1);
  await publishes('microphone');
  assert.deepEqual(blended, [1]);
  subscriber.silence(true);
  assert.deepEqual([blended, subscriber.track('microphone')], [[0], null]);
  await publishes('microphone', 'screen-audio');
  assert.equal(blended.length, 1, 'nothing else is played');
  subscriber.silence(false);
  assert.deepEqual(blended, [0, 1, 1]);
  subscriber.close();
});
