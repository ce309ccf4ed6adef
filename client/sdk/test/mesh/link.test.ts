import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LinkSignal as Signal } from '../../src/mesh/payload.ts';
import { budgetFor } from '../../src/mesh/budget.ts';
import { assertWhole, connected, kinds, ordinary, pair, withScreen } from '../fakes/link-pair.ts';

describe('a link between two people', () => {
  test('connects, and both receive microphone and camera of the other', async () => {
    const call = pair();
    const took = await call.ports.clock.until(connected(call), 5000);
    assert.ok(took !== null && took < 200, `took ${took}`);
    assertWhole(call, { starter: false, other: false });
    call.close();
  });

  test('[MOD-15] every sound of a muted participant is silence, also on a connection that is made later, and no picture is', async () => {
    const call = pair();
    await call.ports.clock.until(connected(call), 5000);
    call.other.setMedia(withScreen(ordinary()));
    await call.ports.clock.advance(1000);
    const { starter } = call;
    const enabled = (kind: string): (boolean | undefined)[] => {
      const tracks = [starter.stream, starter.screen].flatMap((stream) => stream?.getTracks() ?? []);
      return tracks.filter((track) => track.kind === kind).map((track) => track.enabled);
    };
    call.muted = true;
    starter.silence();
    assert.deepEqual(enabled('audio'), [false]);
    call.reload('other');
    await call.ports.clock.until(() => call.ports.fabric.live.length === 2 && connected(call)(), 20_000);
    assert.ok(enabled('audio').length > 0 && !enabled('audio').some((one) => one !== false));
    assert.ok(!enabled('video').includes(false));
    call.muted = false;
    starter.silence();
    assert.ok(!enabled('audio').includes(false));
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
