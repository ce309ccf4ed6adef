/** Which media relay the participants of a room are sent to. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultLimits } from '@parley/protocol/limits';
import type { MediaRelay } from '@parley/protocol/media';
import { MediaRelays } from '../../src/core/media-relays.ts';
import { randomRoom } from '../support/pod.ts';

const LEASE_MS = defaultLimits()['media.leaseDuration'];

const relay = (name: string, about: Partial<MediaRelay> = {}): MediaRelay => ({
  relay: name,
  epoch: 1,
  role: 'origin',
  url: `https://${name}.example.org:4443/`,
  certificateHashes: [],
  sessions: 0,
  capacity: 10,
  ...about,
});

function known(...relays: readonly MediaRelay[]): MediaRelays {
  const all = new MediaRelays(defaultLimits());
  for (const one of relays) all.onLease(one, 0);
  return all;
}

const ROOMS = Array.from({ length: 3000 }, randomRoom);

describe('[MEDIA-3] the relay of a room', () => {
  test('is the same for every participant, and for every order of leases', () => {
    const [one, other] = [
      known(relay('a'), relay('b'), relay('c')),
      known(relay('c'), relay('a'), relay('b')),
    ];
    for (const room of ROOMS) assert.equal(one.pick(room, 0)?.relay, other.pick(room, 0)?.relay);
  });

  test('rooms are spread evenly, also over names that differ in one symbol', () => {
    const all = known(...['relay-0', 'relay-1', 'relay-2', 'relay-3'].map((name) => relay(name)));
    const counts = new Map<string | undefined, number>();
    for (const room of ROOMS) {
      const name = all.pick(room, 0)?.relay;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    for (const [name, count] of counts) assert.ok(count > 600 && count < 900, `${name}: ${count} of 3000`);
    assert.equal(counts.size, 4);
  });

  test('a new relay takes rooms only for itself, and one that ends loses only its own', () => {
    const [few, more] = [known(relay('a'), relay('b')), known(relay('a'), relay('b'), relay('c'))];
    for (const room of ROOMS) {
      const [before, after] = [few.pick(room, 0)?.relay, more.pick(room, 0)?.relay];
      assert.ok(after === before || after === 'c', `${room}: ${before} to ${after}`);
    }
  });

  const large = (...names: string[]): MediaRelays => {
    const all = new MediaRelays(defaultLimits({ 'media.participantsPerRelay': 20 }));
    for (const name of names) all.onLease(relay(name, { capacity: 100 }), 0);
    return all;
  };
  /** This many participants ask one after another. `joining`: each when it enters; otherwise when all are in the room. */
  const send = (all: MediaRelays, count: number, joining: boolean, exclude?: string): Map<string, number> => {
    const sent = new Map<string, number>();
    for (let nth = 1; nth <= count; nth += 1) {
      const people = joining ? nth : count;
      const found = all.pick('x', 0, exclude, { people, sentTo: (name) => sent.get(name) ?? 0 });
      assert.ok(found !== undefined);
      sent.set(found.relay, (sent.get(found.relay) ?? 0) + 1);
    }
    return sent;
  };

  for (const joining of [true, false])
    test(`a room larger than one relay is to carry has as many as it needs, where participants ${joining ? 'enter one by one' : 'ask all at once'}`, () => {
      const all = large('a', 'b', 'c', 'd');
      assert.deepEqual([...send(all, 20, joining)], [[all.pick('x', 0)?.relay, 20]]);
      assert.deepEqual([...send(all, 40, joining).values()], [20, 20]);
      assert.deepEqual([...send(all, 60, joining).values()], [20, 20, 20]);
      const most = [...send(all, 200, joining).values()];
      assert.deepEqual(
        most,
        [50, 50, 50, 50],
        'participants beyond the capacity of all relays are still sent to one',
      );
    });

  test('the participants of a relay that was lost are spread over those that the room needs', () => {
    const all = large('a', 'b', 'c');
    const lost = all.pick('x', 0);
    const sent = send(all, 40, false, lost?.url);
    assert.equal(sent.has(lost?.relay ?? ''), false);
    assert.deepEqual([...sent.values()], [20, 20]);
  });

  test('a full relay is skipped, and none is offered where all are full', () => {
    const full = { sessions: 10 };
    assert.equal(known(relay('a', full), relay('b')).pick('x', 0)?.relay, 'b');
    assert.equal(known(relay('a', full), relay('b', full)).pick('x', 0), undefined);
  });

  test('is a leaf where there are leaves, even where an origin has capacity', () => {
    const all = known(relay('a'), relay('b', { role: 'leaf' }), relay('c', { role: 'leaf', sessions: 10 }));
    for (const room of ROOMS.slice(0, 100)) assert.equal(all.pick(room, 0)?.relay, 'b');
  });
});

describe('[MEDIA-10] a participant that lost a relay', () => {
  const exclude = relay('a').url;

  test('is sent to another one, which is the same for all participants of the meeting', () => {
    const [three, two] = [known(relay('a'), relay('b'), relay('c')), known(relay('b'), relay('c'))];
    for (const room of ROOMS.slice(0, 100))
      assert.equal(three.pick(room, 0, exclude)?.relay, two.pick(room, 0)?.relay);
  });

  test('is sent to an origin where that was the only leaf, and back where it was the only relay', () => {
    const [leaf, full] = [{ role: 'leaf' }, { sessions: 10 }] as const;
    assert.equal(known(relay('a', leaf), relay('b')).pick('x', 0, exclude)?.relay, 'b');
    assert.equal(known(relay('a'), relay('b', full)).pick('x', 0, exclude)?.relay, 'a');
  });
});

describe('[MEDIA-2] relays that are not offered', () => {
  test('one whose lease lapsed, until it renews it', () => {
    const all = known(relay('a'));
    assert.equal(all.pick('x', LEASE_MS - 1)?.relay, 'a');
    assert.equal(all.pick('x', LEASE_MS), undefined);
    all.onLease(relay('a'), LEASE_MS + 1);
    assert.equal(all.pick('x', LEASE_MS + 2)?.relay, 'a');
  });

  test('one that drains, also if an earlier message arrives later', () => {
    const all = known(relay('a', { epoch: 2, draining: true }));
    all.onLease(relay('a', { epoch: 1 }), 1);
    assert.equal(all.pick('x', 2), undefined);
    all.onLease(relay('a', { epoch: 3 }), 3);
    assert.equal(all.pick('x', 4)?.relay, 'a');
  });

  test('those beyond media.relays, until a known lease lapses', () => {
    const all = new MediaRelays(defaultLimits({ 'media.relays': 1 }));
    all.onLease(relay('a'), 0);
    all.onLease(relay('b'), 1);
    assert.equal(all.count(2), 1);
    all.onLease(relay('b'), LEASE_MS);
    assert.equal(all.pick('x', LEASE_MS)?.relay, 'b');
  });
});
