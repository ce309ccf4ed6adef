/** Which voices the mix of relayed audio contains, while participants move between mesh and relays. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ParticipantId } from '@parley/protocol/ids';
import type { Media } from '@parley/protocol/people';
import type { Mesh } from '../../src/mesh/mesh.ts';
import { MediaPaths } from '../../src/paths/media-paths.ts';
import type { HeardMember } from '../../src/room/mutes.ts';
import type { FakeClock } from '../fakes/clock.ts';
import { fakeStream, fakeTrack } from '../fakes/media.ts';
import { ME, member, participant, ROOM } from '../fakes/messages.ts';
import { fakePorts } from '../fakes/ports.ts';
import { fakeRelays, type FakeRelays } from '../fakes/relayed-room.ts';

const [ADA, BEN, CEM] = ['a', 'b', 'c'].map(participant) as [ParticipantId, ParticipantId, ParticipantId];
const MAX = 3;
const NOTHING = { microphone: null, camera: null, screen: null };

interface Stand {
  readonly paths: MediaPaths;
  readonly relays: FakeRelays;
  readonly clock: FakeClock;
  /** Participants with a link that carries their voice unless it is muted. */
  readonly links: Map<ParticipantId, { readonly voice: { muted: boolean } }>;
  /** The number of reported changes. */
  readonly changes: () => number;
}

function stand(): Stand {
  const links: Stand['links'] = new Map();
  const link = (with_: ParticipantId): object | undefined => {
    const voice = links.get(with_)?.voice;
    return (
      voice && {
        view: { status: 'connected' },
        stream: fakeStream([voice as MediaStreamTrack]),
        screen: null,
        level: () => 0,
      }
    );
  };
  const mesh = {
    link,
    isPresent: () => true,
    openLink: (with_: ParticipantId) => {
      if (!links.has(with_)) links.set(with_, { voice: Object.assign(fakeTrack('audio'), { muted: true }) });
    },
    closeLink: (with_: ParticipantId) => links.delete(with_),
    sendSignal: () => undefined,
  } as unknown as Mesh;
  const relays = fakeRelays();
  const ports = fakePorts({ relayedMedia: relays.load });
  let changes = 0;
  const paths = new MediaPaths(NOTHING, {
    ports,
    mesh,
    room: ROOM,
    api: () => '',
    secret: null,
    requestRelay: () => Promise.resolve(null),
    onChange: () => (changes += 1),
  });
  return { paths, relays, clock: ports.clock, links, changes: () => changes };
}

const heard = (participant: ParticipantId, media: Media, muted = false): HeardMember => ({
  ...member(participant, participant),
  media,
  owner: false,
  coOwner: false,
  muted,
});

async function people({ paths, clock }: Stand, ...who: ParticipantId[]): Promise<void> {
  const said = { audio: true, video: false, screen: false };
  paths.follow(ME, new Map(who.map((one) => [one, heard(one, said)])), MAX);
  paths.update();
  // A room returns to the mesh some seconds after people left.
  await clock.advance(3500);
}

/** Through their own stream, which the page plays, or in the mix. `mixed` agrees with the contents of the mix. */
function outputOf({ paths, relays }: Stand, who: ParticipantId): 'mix' | 'stream' {
  const [room] = relays.open;
  const { mixed } = paths.shown(who);
  if (room !== undefined) assert.equal(room.mixed.has(who), mixed, 'never twice, never not at all');
  assert.equal(paths.mix, room?.mix ?? null);
  return mixed ? 'mix' : 'stream';
}

const sendPath = ({ paths }: Stand, who: ParticipantId, want: 'mesh' | 'sfu', receiving: boolean): void =>
  paths.receive(who, { type: 'path', preferred: want, supported: true, receiving: receiving });

/** Ada has a link and her audio arrives; then the room becomes too large. No relayed media has arrived yet. */
async function moving(): Promise<Stand> {
  const room = stand();
  await people(room, ADA, BEN);
  const voice = room.links.get(ADA)?.voice;
  assert.ok(voice);
  voice.muted = false;
  assert.equal(outputOf(room, ADA), 'stream');
  await people(room, ADA, BEN, CEM);
  for (const one of [ADA, BEN]) sendPath(room, one, 'sfu', false);
  return room;
}

describe('[MEDIA-13] the mix', () => {
  test('contains each person from the time their relayed media takes over, not before', async () => {
    const room = await moving();
    assert.ok(room.paths.mix);
    assert.deepEqual([outputOf(room, ADA), outputOf(room, BEN)], ['stream', 'stream']);
    room.relays.bring(ADA);
    assert.deepEqual([outputOf(room, ADA), outputOf(room, BEN)], ['mix', 'stream']);
    assert.ok(room.links.has(ADA), 'Ada does not have ours yet');
    sendPath(room, ADA, 'sfu', true);
    assert.ok(!room.links.has(ADA));
    room.relays.bring(BEN);
    assert.deepEqual([outputOf(room, ADA), outputOf(room, BEN)], ['mix', 'mix']);
  });

  test('has each person as loud as was set, before or after the move, also on another relay', async () => {
    const room = await moving();
    const volumes = (): (number | undefined)[] =>
      [ADA, BEN].map((one) => [...room.relays.open][0]?.mixed.get(one));
    room.paths.setVolume(ADA, 0.5);
    for (const one of [ADA, BEN]) room.relays.bring(one);
    assert.deepEqual(volumes(), [0.5, 1]);
    room.paths.setVolume(BEN, 0);
    assert.deepEqual(volumes(), [0.5, undefined]);
    assert.equal(room.paths.shown(BEN).mixed, true, 'his stream is not played instead');
    room.relays.lose();
    for (const one of [ADA, BEN]) room.relays.bring(one);
    assert.deepEqual(volumes(), [0.5, undefined]);
    room.paths.setVolume(BEN, 5);
    room.paths.setVolume(ADA, Number.NaN);
    assert.deepEqual(volumes(), [0.5, 1]);
  });

  test('contains them until their voice arrives over the link, which is reported although only time has passed', async () => {
    const room = await moving();
    for (const one of [ADA, BEN]) {
      room.relays.bring(one);
      sendPath(room, one, 'sfu', true);
    }
    await people(room, ADA);
    sendPath(room, ADA, 'mesh', true);
    const voice = room.links.get(ADA)?.voice;
    assert.ok(voice, 'a link is made');
    await room.clock.advance(1000);
    assert.equal(outputOf(room, ADA), 'mix', 'nothing comes over it');
    voice.muted = false;
    const sentText = room.changes();
    await room.clock.advance(1000);
    assert.equal(outputOf(room, ADA), 'stream');
    assert.ok(room.changes() > sentText);
  });

  test('keeps people without a link while the relay is lost: no stream of their own begins to play for a moment', async () => {
    const room = await moving();
    room.relays.bring(ADA);
    sendPath(room, ADA, 'sfu', true);
    room.relays.lose();
    assert.equal(outputOf(room, ADA), 'mix');
    room.relays.bring(ADA);
    assert.equal(outputOf(room, ADA), 'mix');
  });

  test('is another object with another key, and null when relays are no longer used', async () => {
    const room = await moving();
    const { mix } = room.paths;
    room.relays.bring(ADA);
    room.paths.setSecret('AAECAwQFBgcICQoLDA0ODw');
    await room.clock.advance(1000);
    assert.ok(room.paths.mix);
    assert.notEqual(room.paths.mix, mix);
    assert.equal(outputOf(room, ADA), 'mix');
    await people(room, CEM);
    sendPath(room, CEM, 'mesh', false);
    await room.clock.advance(10_000);
    assert.equal(room.paths.mix, null);
    assert.equal(outputOf(room, CEM), 'stream');
  });
});

test('[MOD-15] of a participant that an owner muted no sound comes from relays', async () => {
  const room = await moving();
  room.relays.bring(ADA);
  const media = { audio: false, video: false, screen: false };
  for (const muted of [true, false]) {
    const members = [ADA, BEN, CEM].map((one) => [one, heard(one, media, muted && one === ADA)] as const);
    room.paths.follow(ME, new Map(members), MAX);
    room.paths.update();
    const [relayed] = room.relays.open;
    assert.deepEqual([...(relayed?.silenced ?? [])], muted ? [ADA] : []);
  }
  room.paths.close();
});
