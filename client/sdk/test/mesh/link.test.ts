import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PeerLink } from '../../src/mesh/link.ts';
import type { LinkSignal as Signal } from '../../src/mesh/payload.ts';
import { budgetFor } from '../../src/mesh/budget.ts';
import type { Outgoing } from '../../src/mesh/senders.ts';
import { fakeStream, fakeTrack } from '../fakes/media.ts';
import type { FakePeerConnection } from '../fakes/peer-connection.ts';
import { fakePorts, type FakePorts } from '../fakes/ports.ts';
import { seeded } from '../fakes/random.ts';

/** Two links and a channel that loses, delays and reorders their messages. */
interface Pair {
  readonly ports: FakePorts;
  readonly starter: PeerLink;
  readonly other: PeerLink;
  readonly sent: Signal[];
  /** The side that detected a broken path, for each time. */
  readonly broken: ('starter' | 'other')[];
  reachable: boolean;
  /** What each side announces: that it sends media. */
  sending: boolean;
  reload(side: 'starter' | 'other'): void;
  close(): void;
}

interface Weather {
  readonly seed?: number;
  /** Returns whether this signal is lost. */
  readonly lose?: (signal: Signal, index: number, fraction: () => number) => boolean;
  readonly delayMs?: number;
}

const ordinary = (): Outgoing => ({
  microphone: fakeTrack('audio'),
  camera: fakeTrack('video'),
  screen: null,
  budget: budgetFor(1),
});
const withScreen = (media: Outgoing): Outgoing => ({
  ...media,
  screen: fakeStream([fakeTrack('video')]),
});

function pair({ seed = 1, lose = () => false, delayMs = 10 }: Weather = {}): Pair {
  const ports = fakePorts();
  const random = seeded(seed);
  const sent: Signal[] = [];
  const links: Partial<Record<'starter' | 'other', PeerLink>> = {};
  const make = (side: 'starter' | 'other'): PeerLink => {
    const far = side === 'starter' ? 'other' : 'starter';
    return new PeerLink(ordinary(), {
      ports,
      starter: side === 'starter',
      names: { person: fakeStream(), screen: fakeStream() },
      configuration: () => ({}),
      reachable: () => state.reachable,
      isSending: () => state.sending,
      onBroken: () => state.broken.push(side),
      onChange: () => undefined,
      send: (signal) => {
        if (!state.reachable) return;
        const index = sent.push(signal) - 1;
        if (lose(signal, index, () => random.fraction())) return;
        const copy = JSON.parse(JSON.stringify(signal)) as Signal;
        ports.clock.after(1 + random.fraction() * delayMs, () => links[far]?.handle(copy));
      },
    });
  };
  const get = (side: 'starter' | 'other'): PeerLink => {
    const link = links[side];
    assert.ok(link);
    return link;
  };
  const state: Pair = {
    ports,
    sent,
    broken: [],
    reachable: true,
    sending: true,
    get starter() {
      return get('starter');
    },
    get other() {
      return get('other');
    },
    reload: (side) => {
      get(side).close();
      links[side] = make(side);
      links[side].askAnew();
    },
    close: () => {
      get('starter').close();
      get('other').close();
    },
  };
  links.other = make('other');
  links.starter = make('starter');
  return state;
}

const connected =
  ({ starter, other }: Pair) =>
  (): boolean =>
    starter.view.status === 'connected' && other.view.status === 'connected';

/** Both sides have negotiated every track, and each has exactly one live connection. */
function assertWhole({ ports, starter, other }: Pair, screens: { starter: boolean; other: boolean }): void {
  const { live } = ports.fabric;
  assert.equal(live.length, 2, 'one connection on each side');
  for (const one of live) {
    assert.equal(one.signalingState, 'stable');
    for (const { mid, agreed, direction } of one.getTransceivers()) {
      assert.ok(mid !== null && agreed === direction, 'every transceiver is negotiated');
    }
    assert.equal(kinds(one, 'sendrecv'), 'audio,video', 'microphone and camera are not doubled');
  }
  for (const link of [starter, other]) assert.equal(link.stream?.getTracks().length, 2);
  assert.equal(other.screen !== null, screens.starter);
  assert.equal(starter.screen !== null, screens.other);
}

const isOffer = (signal: Signal): boolean => signal.type === 'description' && signal.kind === 'offer';

const kinds = (one: FakePeerConnection, direction: string): string =>
  one
    .getTransceivers()
    .filter((each) => each.direction === direction)
    .map(({ kind }) => kind)
    .sort()
    .join();

describe('a link between two people', () => {
  test('connects, and both receive microphone and camera of the other', async () => {
    const call = pair();
    const took = await call.ports.clock.until(connected(call), 5000);
    assert.ok(took !== null && took < 200, `took ${took}`);
    assertWhole(call, { starter: false, other: false });
    call.close();
  });

  for (const index of [0, 1, 2, 3, 4, 5]) {
    test(`[P7] signal ${index} lost: still connected within 5 s`, async () => {
      const call = pair({ lose: (_, at) => at === index });
      const took = await call.ports.clock.until(connected(call), 20_000);
      assert.ok(took !== null && took <= 5000, `took ${took}`);
      assertWhole(call, { starter: false, other: false });
      call.close();
    });
  }

  test('[P7] the first signal of each type lost: repaired step by step', async () => {
    const seen = new Set<string>();
    const lose = (signal: Signal): boolean => {
      const kind = signal.type === 'description' ? signal.kind : signal.type;
      const first = !seen.has(kind);
      seen.add(kind);
      return first;
    };
    const call = pair({ lose });
    const took = await call.ports.clock.until(connected(call), 20_000);
    assert.ok(took !== null && took <= 8000, `took ${took}`);
    call.close();
  });

  test('both share their screen at once: the glare is resolved and both screens arrive', async () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const call = pair({ seed, delayMs: 60 });
      await call.ports.clock.until(connected(call), 5000);
      call.starter.setMedia(withScreen(ordinary()));
      call.other.setMedia(withScreen(ordinary()));
      await call.ports.clock.advance(3000);
      assertWhole(call, { starter: true, other: true });
      call.close();
    }
  });

  test('whatever a bad channel loses and reorders, both sides are connected with all tracks in the end', async () => {
    for (let seed = 1; seed <= 150; seed += 1) {
      const call = pair({ seed, delayMs: 400, lose: (_, at, fraction) => at < 60 && fraction() < 0.25 });
      const { clock } = call.ports;
      clock.after(300 + seed * 10, () => call.starter.setMedia(withScreen(ordinary())));
      clock.after(300 + seed * 7, () => call.other.setMedia(withScreen(ordinary())));
      await clock.advance(60_000);
      assert.ok(connected(call)(), `seed ${seed}: ${call.starter.view.status} ${call.other.view.status}`);
      assertWhole(call, { starter: true, other: true });
      call.close();
    }
  });

  test('a screen shared before the first answer is added after it', async () => {
    const call = pair();
    call.other.setMedia(withScreen(ordinary()));
    call.starter.setMedia(withScreen(ordinary()));
    await call.ports.clock.advance(3000);
    assertWhole(call, { starter: true, other: true });
    call.close();
  });

  test('mute, unmute and a screen shared again cause no negotiation', async () => {
    const call = pair();
    await call.ports.clock.until(connected(call), 5000);
    const shared = withScreen(ordinary());
    call.starter.setMedia(shared);
    await call.ports.clock.advance(1000);
    const before = call.sent.length;
    call.starter.setMedia({ microphone: null, camera: null, screen: null, budget: budgetFor(1) });
    call.starter.setMedia(withScreen({ ...shared, microphone: null }));
    await call.ports.clock.advance(5000);
    assert.equal(call.sent.length, before);
    const own = call.ports.fabric.live.find((one) => kinds(one, 'sendonly') !== '');
    const tracks = own?.getTransceivers().map(({ sender }) => sender.track?.kind ?? null);
    assert.deepEqual(tracks, [null, 'video', 'video']);
    call.close();
  });

  test('the path breaks: an ICE restart after 2 to 3 s repairs it on the same connection', async () => {
    const call = pair();
    await call.ports.clock.until(connected(call), 5000);
    call.ports.fabric.cut();
    call.ports.fabric.mend();
    assert.notEqual(
      await call.ports.clock.until(() => call.broken.length === 2, 1000),
      null,
      'both know it before anything is restarted',
    );
    const took = await call.ports.clock.until(() => call.starter.view.status === 'recovering', 5000);
    assert.ok(took !== null && took >= 2000 && took <= 3000, `took ${took}`);
    assert.notEqual(await call.ports.clock.until(connected(call), 2000), null);
    assert.equal(call.ports.fabric.all.length, 2, 'no new connection was needed');
    call.close();
  });

  test('no media arrives although ICE reports a good path: both sides detect it after 1.5 s, and one ICE restart repairs the same connection', async () => {
    const call = pair();
    const { clock, fabric } = call.ports;
    await clock.until(connected(call), 5000);
    await clock.advance(1000);
    const before = call.sent.length;
    fabric.hush();
    const known = await clock.until(() => call.broken.length === 2, 3000);
    assert.ok(known !== null && known >= 1500 && known <= 2000, `known ${known}`);
    const isHeard = (): boolean => fabric.live.every(({ hushed }) => hushed === 0);
    const took = await clock.until(isHeard, 5000);
    assert.ok(took !== null && took <= 600, `took ${took}`);
    await clock.advance(20_000);
    const offers = call.sent.slice(before).filter((signal) => isOffer(signal));
    assert.equal(offers.length, 1);
    assert.equal(fabric.all.length, 2, 'no new connection was needed');
    call.close();
  });

  test('no media arrives after an ICE restart either: further restarts, at most two from each side while ICE reports a good path', async () => {
    for (const [needed, offers] of [
      [2, 2],
      [9, 4],
    ] as const) {
      const call = pair();
      const { clock, fabric } = call.ports;
      await clock.until(connected(call), 5000);
      await clock.advance(1000);
      const before = call.sent.length;
      fabric.hush(needed);
      await clock.advance(60_000);
      assert.equal(call.sent.slice(before).filter((signal) => isOffer(signal)).length, offers);
      assert.equal(
        fabric.live.every(({ hushed }) => hushed === 0),
        needed <= 2,
      );
      assert.equal(fabric.all.length, 2, 'no new connection');
      fabric.cut();
      fabric.mend();
      await clock.advance(1000);
      assert.notEqual(await clock.until(connected(call), 10_000), null, 'a path that breaks is still mended');
      call.close();
    }
  });

  test('no media arrives from a participant that announces that it sends none: no restart, and none when it sends again', async () => {
    const call = pair();
    const { clock, fabric } = call.ports;
    await clock.until(connected(call), 5000);
    await clock.advance(1000);
    const before = call.sent.length;
    call.sending = false;
    fabric.hush();
    await clock.advance(60_000);
    call.sending = true;
    await clock.advance(1000);
    for (const one of fabric.live) one.hushed = 0;
    await clock.advance(5000);
    assert.equal(call.sent.length, before);
    assert.deepEqual(call.broken, []);
    call.close();
  });

  test('no media arrives while the other person is away: restarted when they are back', async () => {
    const call = pair();
    const { clock, fabric } = call.ports;
    await clock.until(connected(call), 5000);
    await clock.advance(1000);
    call.reachable = false;
    fabric.hush();
    await clock.advance(5000);
    call.reachable = true;
    call.starter.reachableAgain();
    call.other.reachableAgain();
    assert.notEqual(await clock.until(() => fabric.live.every(({ hushed }) => hushed === 0), 1000), null);
    assert.equal(fabric.all.length, 2, 'no new connection was needed');
    call.close();
  });

  test('the path stays broken: new connections follow, the state becomes failed, and the link recovers when the path does', async () => {
    const call = pair();
    await call.ports.clock.until(connected(call), 5000);
    call.ports.fabric.cut();
    const failed = await call.ports.clock.until(() => call.starter.view.status === 'failed', 120_000);
    assert.notEqual(failed, null);
    assert.ok(call.ports.fabric.all.length > 2);
    call.ports.fabric.mend();
    assert.notEqual(await call.ports.clock.until(connected(call), 60_000), null);
    assertWhole(call, { starter: false, other: false });
    call.close();
  });

  test('[TURN-7] while the path stays broken each further attempt first requests ICE servers', async () => {
    const call = pair();
    const { clock, fabric } = call.ports;
    await clock.until(connected(call), 5000);
    fabric.cut();
    const offers = (): number => call.sent.filter((signal) => isOffer(signal)).length;
    let [known, askedAt, attempts] = [offers(), 0, 0];
    assert.equal(call.broken.length, 2);
    for (let elapsed = 0; elapsed < 60_000; elapsed += 100) {
      const asked = call.broken.length;
      await clock.advance(100);
      if (call.broken.length > asked) askedAt = elapsed;
      if (offers() === known) continue;
      known = offers();
      // The first restart of each side follows its request when the path broke.
      if (elapsed < 5000) continue;
      attempts += 1;
      assert.ok(elapsed - askedAt <= 600, `attempt ${attempts} at ${elapsed}, asked at ${askedAt}`);
    }
    assert.ok(attempts >= 3, String(attempts));
    call.close();
  });

  for (const side of ['starter', 'other'] as const) {
    test(`the ${side} reloads the page: a new session replaces the old one on both sides`, async () => {
      const call = pair();
      await call.ports.clock.until(connected(call), 5000);
      await call.ports.clock.advance(10_000);
      call.reload(side);
      const took = await call.ports.clock.until(connected(call), 10_000);
      assert.ok(took !== null && took <= 5000, `took ${took}`);
      await call.ports.clock.advance(5000);
      assertWhole(call, { starter: false, other: false });
      call.close();
    });
  }

  test('an offer and an answer of an older session change nothing', async () => {
    const call = pair();
    await call.ports.clock.until(connected(call), 5000);
    await call.ports.clock.advance(3000);
    const descriptions = call.sent.filter((signal) => signal.type === 'description');
    assert.equal(descriptions.length, 2);
    const sessions = new Set(call.sent.map(({ session }) => session));
    call.starter.handle({ type: 'renew', session: Math.max(...sessions) });
    await call.ports.clock.advance(1);
    for (const old of descriptions) (old.kind === 'offer' ? call.other : call.starter).handle(old);
    const took = await call.ports.clock.until(connected(call), 5000);
    assert.ok(took !== null && took <= 1000, `took ${took}`);
    assertWhole(call, { starter: false, other: false });
    call.close();
  });

  test('an offer of a session below ours is answered by a request for a newer session', async () => {
    const call = pair();
    await call.ports.clock.until(connected(call), 5000);
    const offer = call.sent.find((signal) => signal.type === 'description');
    assert.ok(offer);
    call.other.handle({ ...offer, session: 5 });
    assert.deepEqual(call.sent.at(-1), { type: 'renew', session: offer.session });
    call.close();
  });

  test('nothing is negotiated while the other person is away, and all signals are sent again when they are back', async () => {
    const call = pair();
    call.reachable = false;
    await call.ports.clock.advance(30_000);
    assert.equal(call.sent.length, 0);
    call.reachable = true;
    call.starter.reachableAgain();
    call.other.reachableAgain();
    const took = await call.ports.clock.until(connected(call), 10_000);
    assert.ok(took !== null && took <= 5000, `took ${took}`);
    call.close();
  });

  test('undelivered for a temporary reason: sent again within a second', async () => {
    const call = pair({ lose: (_, at) => at === 0 });
    await call.ports.clock.advance(1);
    call.starter.undelivered('timeout');
    const took = await call.ports.clock.until(connected(call), 10_000);
    assert.ok(took !== null && took <= 1000, `took ${took}`);
    call.close();
  });

  test('closing leaves no connection and no timer', async () => {
    const call = pair();
    await call.ports.clock.until(connected(call), 5000);
    await call.ports.clock.advance(500);
    call.close();
    await call.ports.clock.advance(0);
    assert.equal(call.ports.fabric.live.length, 0);
    assert.equal(call.ports.clock.pending, 0);
  });
});
