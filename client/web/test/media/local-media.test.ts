import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate, setTimeout as pause } from 'node:timers/promises';
import type { DevicePort } from '../../src/media/devices.ts';
import { LocalMedia, type Kind } from '../../src/media/local-media.ts';

/** A set of devices that are plugged in and out. */
function desk(...present: string[]) {
  let changed: () => void = () => undefined;
  const open = new Map<string, EventTarget>();
  const opened: string[] = [];
  const slow = new Map<string, number>();
  const kindOf = (id: string): 'audioinput' | 'videoinput' =>
    id.startsWith('camera') ? 'videoinput' : 'audioinput';
  const trackOf = (kind: 'audioinput' | 'videoinput', wanted?: string): MediaStreamTrack[] => {
    const found = present.filter((id) => kindOf(id) === kind);
    const id = found.find((one) => one === wanted) ?? found[0];
    if (id === undefined) return [];
    opened.push(id);
    const track = Object.assign(new EventTarget(), {
      id,
      stop: () => open.delete(id),
      // None of a track that has ended, as in Firefox.
      getSettings: () => (present.includes(id) ? { deviceId: id } : {}),
    });
    open.set(id, track);
    return [track as unknown as MediaStreamTrack];
  };
  const wish = (asked: MediaTrackConstraints | boolean | undefined): string | undefined => {
    const id = typeof asked === 'object' ? (asked.deviceId as ConstrainDOMStringParameters | undefined) : {};
    const wanted = id?.exact ?? id?.ideal;
    return typeof wanted === 'string' ? wanted : undefined;
  };
  const exactly = (asked: MediaTrackConstraints | boolean | undefined): string | undefined => {
    const id = typeof asked === 'object' ? (asked.deviceId as ConstrainDOMStringParameters | undefined) : {};
    return typeof id?.exact === 'string' ? id.exact : undefined;
  };
  const port: DevicePort = {
    access: 'yes',
    open: async ({ audio, video }) => {
      const missing = [audio, video].map(exactly).filter((id) => id !== undefined && !present.includes(id));
      if (missing.length > 0) throw new DOMException('', 'OverconstrainedError');
      const waits = [audio, video].map((asked) => slow.get(wish(asked) ?? '') ?? 0);
      if (Math.max(...waits) > 0) await pause(Math.max(...waits));
      const tracks = [
        ...(audio ? trackOf('audioinput', wish(audio)) : []),
        ...(video ? trackOf('videoinput', wish(video)) : []),
      ];
      if (tracks.length === 0) throw new DOMException('', 'NotFoundError');
      const of = (kind: string) => tracks.filter(({ id }) => kindOf(id) === kind);
      const stream = {
        getTracks: () => tracks,
        getAudioTracks: () => of('audioinput'),
        getVideoTracks: () => of('videoinput'),
      };
      return stream as unknown as MediaStream;
    },
    openScreen: null,
    list: () =>
      Promise.resolve(present.map((deviceId) => ({ deviceId, kind: kindOf(deviceId) }) as MediaDeviceInfo)),
    watch(listener) {
      changed = listener;
      return () => undefined;
    },
    canChooseSpeaker: false,
    canFlipCamera: false,
  };
  return {
    port,
    opened,
    /** The devices that are on, with their lights on. */
    on: () => [...open.keys()],
    slow,
    unplug: async (id: string): Promise<void> => {
      present.splice(present.indexOf(id), 1);
      open.get(id)?.dispatchEvent(new Event('ended'));
      changed();
      for (let turn = 0; turn < 10; turn += 1) await setImmediate();
    },
    plug: async (id: string): Promise<void> => {
      present.push(id);
      changed();
      for (let turn = 0; turn < 10; turn += 1) await setImmediate();
    },
  };
}

const liveOf = (media: LocalMedia, kind: Kind): string => {
  const source = media[kind].value;
  return source.status === 'live'
    ? source.track.id
    : source.status === 'failed'
      ? source.problem
      : source.status;
};

test('a microphone that is unplugged is replaced by another, muted as it was', async () => {
  const { port, unplug } = desk('headset', 'built-in', 'camera');
  const media = new LocalMedia(port);
  await media.begin();
  assert.equal(liveOf(media, 'microphone'), 'headset');
  await media.toggleMicrophone();
  await unplug('headset');
  assert.equal(liveOf(media, 'microphone'), 'built-in');
  assert.equal(media.muted.value, true);
  assert.equal(media.sendingMicrophone.value, null);
});

test('without another microphone the page says so, and continues when one is plugged in', async () => {
  const { port, unplug, plug } = desk('headset', 'camera');
  const media = new LocalMedia(port);
  await media.begin();
  await unplug('headset');
  assert.equal(liveOf(media, 'microphone'), 'lost');
  await plug('other');
  assert.equal(liveOf(media, 'microphone'), 'other');
});

test('no other camera is opened: only the lost camera is reopened automatically', async () => {
  const { port, unplug, plug, opened } = desk('built-in', 'camera desk', 'camera room');
  const media = new LocalMedia(port);
  await media.begin();
  await unplug('camera desk');
  assert.equal(liveOf(media, 'camera'), 'lost');
  assert.ok(!opened.includes('camera room'));
  await plug('camera desk');
  assert.equal(liveOf(media, 'camera'), 'camera desk');
});

test('a device switched off meanwhile stays off', async () => {
  const { port, unplug, plug } = desk('headset', 'camera');
  const media = new LocalMedia(port);
  await media.begin();
  await unplug('camera');
  media.turnOff('camera');
  await plug('camera');
  assert.equal(liveOf(media, 'camera'), 'off');
});

test('a muted participant stays muted while choosing another microphone, also twice in a moment', async () => {
  const there = desk('desk mic', 'headset', 'loud mic');
  const media = new LocalMedia(there.port);
  await media.turnOn('microphone');
  await media.toggleMicrophone();
  const sent: (string | undefined)[] = [];
  const stop = media.sendingMicrophone.subscribe((track) => sent.push(track?.id));
  there.slow.set('headset', 30);
  await Promise.all([media.choose('microphone', 'headset'), media.choose('microphone', 'loud mic')]);
  assert.deepEqual(sent, [undefined]);
  assert.deepEqual([media.muted.value, liveOf(media, 'microphone')], [true, 'loud mic']);
  assert.deepEqual(there.on(), ['loud mic']);
  stop();
});

test('the last choice counts, whichever camera opens first, and no other camera stays on', async () => {
  const there = desk('camera a', 'camera b');
  const media = new LocalMedia(there.port);
  await media.turnOn('camera');
  there.slow.set('camera b', 30);
  await Promise.all([media.choose('camera', 'camera b'), media.choose('camera', 'camera a')]);
  assert.deepEqual([liveOf(media, 'camera'), there.on()], ['camera a', ['camera a']]);
  const opens = media.choose('camera', 'camera b');
  media.turnOff('camera');
  await opens;
  assert.deepEqual([liveOf(media, 'camera'), there.on()], ['off', []]);
});

test('a flip opens the camera of the other side, one at a time, and a choice by name ends it', async () => {
  const lit = new Set<string>();
  let most = 0;
  const open: DevicePort['open'] = ({ video }) => {
    const { facingMode, deviceId } = video as MediaTrackConstraints;
    const side = deviceId === undefined ? (facingMode as string) : 'user';
    lit.add(side);
    most = Math.max(most, lit.size);
    const track = Object.assign(new EventTarget(), {
      stop: () => lit.delete(side),
      getSettings: () => ({ facingMode: side }),
    });
    return Promise.resolve({ getTracks: () => [track] } as unknown as MediaStream);
  };
  const media = new LocalMedia({ ...desk().port, open, canFlipCamera: true });
  const seen = () => [[...lit], media.cameraFacesAway.value];
  await media.flipCamera();
  assert.deepEqual(seen(), [[], false], 'a camera that is off stays off');
  await media.turnOn('camera');
  assert.deepEqual(seen(), [['user'], false]);
  await media.flipCamera();
  assert.deepEqual(seen(), [['environment'], true]);
  media.turnOff('camera');
  await media.turnOn('camera');
  assert.deepEqual(seen(), [['environment'], true], 'it is the same one after it was off');
  await media.flipCamera();
  assert.deepEqual(seen(), [['user'], false]);
  await media.flipCamera();
  await media.choose('camera', 'front camera');
  assert.deepEqual(seen(), [['user'], false]);
  assert.equal(most, 1);
});

test('the chosen device is opened and no other, and another one where it is not there', async () => {
  const { port, opened, unplug } = desk('microphone-1', 'microphone-2', 'camera-1', 'camera-2');
  const media = new LocalMedia(port);
  await media.begin();
  await media.choose('microphone', 'microphone-2');
  await media.choose('camera', 'camera-2');
  assert.deepEqual(opened.slice(-2), ['microphone-2', 'camera-2']);
  media.turnOff('microphone');
  await unplug('microphone-2');
  await media.turnOn('microphone');
  assert.equal(liveOf(media, 'microphone'), 'microphone-1');
});
