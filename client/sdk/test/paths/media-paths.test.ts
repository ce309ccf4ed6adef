import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { directedPrefix } from '@parley/protocol/directed';
import type { Call } from '../../src/call.ts';
import type { PathSignal } from '../../src/mesh/payload.ts';
import { member, participant, welcome } from '../fakes/messages.ts';
import { fakeRelays, type FakeRelays } from '../fakes/relayed-room.ts';
import { fakeService, type FakeService } from '../fakes/service.ts';

const [ADA, BEN, CEM, DUA, ELI] = ['a', 'b', 'c', 'd', 'e'].map(participant) as [
  string,
  string,
  string,
  string,
  string,
];
const ALL = [ADA, BEN, CEM, DUA];

interface Stand {
  readonly service: FakeService;
  readonly relays: FakeRelays;
  readonly call: Call;
}

async function room(others: readonly string[], relays = fakeRelays()): Promise<Stand> {
  const service = fakeService({ relayedMedia: relays.load });
  const call = service.join();
  await service.settle();
  service.socket.open();
  service.socket.sendMessage(welcome({ roster: others.map((one) => member(one, one)) }));
  await pass({ service }, 100);
  return { service, relays, call };
}

async function pass({ service }: Pick<Stand, 'service'>, ms: number): Promise<void> {
  await service.settle();
  await service.ports.clock.advance(ms);
  await service.settle();
}

/** The path signals that we sent to a participant, in order. */
function sentText({ service }: Stand, to: string): PathSignal[] {
  return service.socket.directed
    .filter(
      (one): one is string => typeof one === 'string' && one.startsWith(`>${to} `) && one.includes('"path"'),
    )
    .map((one) => JSON.parse(one.slice(one.indexOf('\n'))) as PathSignal);
}

function sendPath({ service }: Stand, from: string, signal: Omit<PathSignal, 'type'>): void {
  service.socket.text(`${directedPrefix(from)}${JSON.stringify({ type: 'path', ...signal })}`);
}

const links = ({ service }: Stand): number => service.ports.fabric.live.length;
const join = ({ service }: Stand, one: string): void =>
  service.socket.sendMessage({ type: 'joined', member: member(one, one) });
const leave = ({ service }: Stand, one: string): void =>
  service.socket.sendMessage({ type: 'left', participant: one, reason: 'left' });
const wants = { preferred: 'sfu', supported: true, receiving: false } as const;

describe('[MEDIA-12] a room through relays', () => {
  test('the fifth participant makes no links first, and announces its path to all', async () => {
    const stand = await room(ALL);
    assert.equal(links(stand), 0);
    assert.deepEqual(stand.call.snapshot().path, { kind: 'sfu', reason: 'people', encrypted: false });
    for (const one of ALL) assert.deepEqual(sentText(stand, one)[0], { type: 'path', ...wants });
    assert.equal(stand.relays.open.size, 1);
  });

  test('a room of four announces no path, loads nothing, and uses links', async () => {
    const stand = await room(ALL.slice(1));
    await pass(stand, 5000);
    assert.equal(links(stand), 3);
    assert.equal(stand.relays.open.size, 0);
    assert.deepEqual(sentText(stand, BEN), []);
  });

  test('a participant that could not load the part for relays has links to all meanwhile, and tries again', async () => {
    const relays = fakeRelays();
    relays.missing = true;
    const stand = await room(ALL, relays);
    await pass(stand, 1000);
    assert.deepEqual(stand.call.snapshot().path, { kind: 'mesh', reason: 'not-loaded' });
    assert.equal(links(stand), ALL.length);
    relays.missing = false;
    const before = sentText(stand, ADA).length;
    await pass(stand, 5000);
    assert.equal(relays.open.size, 1);
    assert.deepEqual(stand.call.snapshot().path, { kind: 'sfu', reason: 'people', encrypted: false });
    assert.deepEqual(
      sentText(stand, ADA)
        .slice(before)
        .map(({ supported }) => supported)
        .filter((able, at, all) => able !== all[at - 1]),
      [false, true],
    );
  });

  test('two people who join and leave within a moment move no one', async () => {
    const stand = await room(ALL.slice(1));
    join(stand, ELI);
    await pass(stand, 200);
    leave(stand, ELI);
    await pass(stand, 2000);
    assert.equal(stand.relays.open.size, 0);
    assert.deepEqual(stand.call.snapshot().path, { kind: 'mesh', reason: null });
  });
});

describe('a small room with a participant who asks for relays', () => {
  test('its path is through relays while one of us receives the other there, not only where all do', async () => {
    const stand = await room([ADA, BEN]);
    assert.deepEqual(stand.call.snapshot().path, { kind: 'mesh', reason: null });
    sendPath(stand, BEN, wants);
    await pass(stand, 100);
    assert.deepEqual(stand.call.snapshot().path, { kind: 'sfu', reason: 'requested', encrypted: false });
    stand.relays.bring(BEN);
    sendPath(stand, BEN, { ...wants, receiving: true });
    await pass(stand, 2000);
    assert.deepEqual(stand.call.snapshot().path, { kind: 'sfu', reason: 'requested', encrypted: false });
    assert.ok(links(stand) >= 1, 'Ada is linked directly');
    leave(stand, BEN);
    await pass(stand, 2000);
    assert.deepEqual(stand.call.snapshot().path, { kind: 'mesh', reason: null });
  });
});

describe('[MEDIA-13] make before break', () => {
  async function moving(): Promise<Stand> {
    const stand = await room([ADA, BEN, CEM]);
    assert.equal(links(stand), 3);
    join(stand, DUA);
    await pass(stand, 1000);
    for (const one of [ADA, BEN, CEM, DUA]) sendPath(stand, one, wants);
    await pass(stand, 100);
    return stand;
  }

  test('a link stays until each of the two receives the other’s relayed media', async () => {
    const stand = await moving();
    assert.deepEqual(stand.call.snapshot().path, { kind: 'sfu', reason: 'people', encrypted: false });
    const before = links(stand);
    assert.ok(before >= 3);
    stand.relays.bring(ADA);
    await pass(stand, 100);
    assert.equal(sentText(stand, ADA).at(-1)?.receiving, true);
    assert.equal(links(stand), before, 'they have not said that they take ours');
    sendPath(stand, ADA, { ...wants, receiving: true });
    await pass(stand, 100);
    assert.equal(links(stand), before - 1);
    const link = stand.call.snapshot().people.find((one) => one.participant === ADA)?.link;
    assert.ok(link?.status === 'connected' && link.path === 'sfu');
  });

  test('when the room is small again the relays stay until there is a link', async () => {
    const stand = await moving();
    for (const one of [ADA, BEN, CEM, DUA]) {
      stand.relays.bring(one);
      sendPath(stand, one, { ...wants, receiving: true });
    }
    await pass(stand, 500);
    assert.equal(links(stand), 0);
    leave(stand, CEM);
    leave(stand, DUA);
    await pass(stand, 2000);
    assert.equal(links(stand), 0, 'they may be back at once');
    await pass(stand, 2000);
    assert.equal(sentText(stand, ADA).at(-1)?.preferred, 'mesh');
    assert.equal(links(stand), 0, 'the others have not decided yet');
    for (const one of [ADA, BEN])
      sendPath(stand, one, { preferred: 'mesh', supported: true, receiving: true });
    await pass(stand, 100);
    assert.equal(links(stand), 2);
    const paths = stand.call
      .snapshot()
      .people.map(({ link }) => (link.status === 'connected' ? link.path : ''));
    assert.deepEqual(paths, ['sfu', 'sfu'], 'nothing comes over the links');
  });

  test('a participant that does not support relays keeps its link', async () => {
    const stand = await room(ALL);
    sendPath(stand, ADA, { preferred: 'mesh', supported: false, receiving: false });
    await pass(stand, 3000);
    assert.equal(links(stand), 4, 'and so do those who said nothing');
  });

  test('a region without a relay keeps the room in the mesh, and the snapshot says so', async () => {
    const stand = await room(ALL);
    stand.relays.state = 'none';
    await pass(stand, 1000);
    assert.equal(links(stand), 4);
    assert.deepEqual(stand.call.snapshot().path, { kind: 'mesh', reason: 'no-relay' });
  });
});

describe('[MEDIA-13] a large room', () => {
  const MANY = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'j', 'k'].map((one) => participant(one));

  async function relayed(): Promise<Stand> {
    const stand = await room(MANY);
    for (const one of MANY) sendPath(stand, one, { ...wants, receiving: true });
    for (const one of MANY) stand.relays.bring(one);
    await pass(stand, 1000);
    assert.equal(links(stand), 0);
    return stand;
  }

  test('makes no links to all while its relays are unavailable for a moment', async () => {
    const stand = await relayed();
    stand.relays.lose();
    stand.relays.state = 'none';
    await pass(stand, 3000);
    assert.equal(links(stand), 0);
    assert.equal(sentText(stand, ADA).at(-1)?.supported, false);
  });

  test('makes no link to a participant whose relay is unavailable, but to one that never could use a relay', async () => {
    const stand = await relayed();
    sendPath(stand, ADA, { preferred: 'sfu', supported: false, receiving: false });
    await pass(stand, 500);
    assert.equal(links(stand), 0);
    join(stand, participant('1'));
    await pass(stand, 100);
    sendPath(stand, participant('1'), { preferred: 'mesh', supported: false, receiving: false });
    await pass(stand, 500);
    assert.equal(links(stand), 1);
  });

  test('receives the audio of a speaker also while their picture does not arrive', async () => {
    const stand = await room(MANY);
    for (const one of MANY) sendPath(stand, one, wants);
    stand.relays.bring(BEN);
    await pass(stand, 3000);
    const [open] = stand.relays.open;
    assert.deepEqual([open?.mixed.has(ADA), open?.mixed.has(BEN)], [true, true]);
    const ada = stand.call.snapshot().people.find((one) => one.participant === ADA);
    assert.deepEqual([ada?.mixed, ada?.link.status], [true, 'connecting']);
  });
});

describe('[MEDIA-22] relays that do not bring the media of some', () => {
  const NEAR = ['a', 'b', 'c', 'd', 'e'].map((one) => participant(one));
  const FAR = ['1', '2', '3', 'f', 'g', 'h', 'j'].map((one) => participant(one));
  const EIGHTH = participant('k');

  async function apart(far: readonly string[]): Promise<Stand> {
    const stand = await room([...NEAR, ...far]);
    for (const one of NEAR) sendPath(stand, one, { ...wants, receiving: true });
    for (const one of far) sendPath(stand, one, wants);
    for (const one of NEAR) stand.relays.bring(one);
    await pass(stand, 5000);
    assert.equal(links(stand), 0);
    return stand;
  }

  const statuses = ({ call }: Stand, of: readonly string[]): Set<string> =>
    new Set(
      call
        .snapshot()
        .people.filter((one) => of.includes(one.participant))
        .map(({ link }) => link.status),
    );
  const askForLink = ({ service }: Stand, from: string): void =>
    service.socket.text(`${directedPrefix(from)}${JSON.stringify({ type: 'renew', session: 1 })}`);

  test('gives way to links with these, and the links end once the relays bring it', async () => {
    const stand = await apart(FAR);
    await pass(stand, 2000);
    assert.equal(links(stand), FAR.length);
    assert.deepEqual(stand.call.snapshot().path, { kind: 'sfu', reason: 'people', encrypted: false });
    for (const one of FAR) {
      stand.relays.bring(one);
      sendPath(stand, one, { ...wants, receiving: true });
    }
    await pass(stand, 1000);
    assert.equal(links(stand), 0);
    assert.deepEqual(statuses(stand, FAR), new Set(['connected']));
  });

  test('where these are eight shows for each that no media arrives, and no link is made or accepted', async () => {
    const far = [...FAR, EIGHTH];
    const stand = await apart(far);
    assert.deepEqual(statuses(stand, far), new Set(['connecting']));
    await pass(stand, 2000);
    assert.deepEqual(statuses(stand, far), new Set(['no-media']));
    assert.deepEqual(statuses(stand, NEAR), new Set(['connected']));
    askForLink(stand, EIGHTH);
    await pass(stand, 1000);
    assert.equal(links(stand), 0);
    leave(stand, FAR[0] ?? '');
    await pass(stand, 1000);
    assert.equal(links(stand), FAR.length, 'seven are few enough');
  });
});

describe('[MEDIA-16] an end-to-end key', () => {
  test('encrypts relayed media from then on, on a separate connection', async () => {
    const stand = await room(ALL);
    const [before] = stand.relays.open;
    assert.equal(before?.secret, null);
    stand.call.setMediaKey('AAECAwQFBgcICQoLDA0ODw');
    await pass(stand, 100);
    const [after, ...others] = stand.relays.open;
    assert.deepEqual([after?.secret, others.length], ['AAECAwQFBgcICQoLDA0ODw', 0]);
    assert.deepEqual(stand.call.snapshot().path, { kind: 'sfu', reason: 'people', encrypted: true });
    stand.call.setMediaKey('AAECAwQFBgcICQoLDA0ODw');
    await pass(stand, 100);
    assert.ok(after && stand.relays.open.has(after), 'the same key changes nothing');
  });

  test('[MEDIA-27] brings keys of participants to the room through relays, and ours to them', async () => {
    const stand = await room(ALL);
    assert.equal(await stand.call.securityCode(), null);
    stand.call.setMediaKey('AAECAwQFBgcICQoLDA0ODw');
    await pass(stand, 100);
    const [relayed] = stand.relays.open;
    assert.deepEqual(relayed?.members, new Set(ALL));
    assert.equal((await stand.call.securityCode())?.code, '12345');
    const key = { type: 'key', publicKey: 'AA', proof: 'BB', asks: true } as const;
    for (const signal of [
      key,
      { ...key, sealed: 'CC' },
      { ...key, asks: 1 },
      { ...key, proof: 'B'.repeat(300) },
    ])
      stand.service.socket.text(`${directedPrefix(BEN)}${JSON.stringify(signal)}`);
    await stand.service.settle();
    assert.deepEqual(relayed?.keysFrom, [BEN, BEN], 'what is no such message is dropped');
    leave(stand, CEM);
    await pass(stand, 100);
    assert.deepEqual(relayed?.members, new Set(ALL.filter((one) => one !== CEM)));
    relayed?.sendKey(BEN, key);
    await pass(stand, 100);
    const sent = stand.service.socket.directed.map(String);
    assert.ok(sent.some((one) => one.startsWith(`>${BEN} `) && one.endsWith(JSON.stringify(key))));
  });

  test('that another participant does not have is reported for that participant', async () => {
    const stand = await room(ALL);
    for (const one of ALL) sendPath(stand, one, { ...wants, receiving: true });
    stand.relays.otherKey.add(BEN);
    stand.relays.bring(ADA);
    await pass(stand, 1000);
    const { people } = stand.call.snapshot();
    assert.deepEqual(
      people.map(({ participant: of, link }) => [of, link.status]),
      [
        [ADA, 'connected'],
        [BEN, 'other-key'],
        [CEM, 'connecting'],
        [DUA, 'connecting'],
      ],
    );
  });
});

test('a camera that is not fetched, because there is too much to receive, is said of the participant', async () => {
  const stand = await room(ALL);
  stand.relays.paused.add(BEN);
  for (const one of ALL) {
    sendPath(stand, one, { ...wants, receiving: true });
    stand.relays.bring(one);
  }
  await pass(stand, 1000);
  const { people } = stand.call.snapshot();
  assert.deepEqual(
    people.map(({ videoPaused }) => videoPaused),
    [false, true, false, false],
  );
});
