import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertWhole, connected, isOffer, pair } from '../fakes/link-pair.ts';

describe('a link whose path breaks', () => {
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
    fabric.countNoise();
    const known = await clock.until(() => call.broken.length === 2, 3000);
    assert.ok(known !== null && known >= 1500 && known <= 2000, `known ${known}`);
    const isReceived = (): boolean => fabric.live.every(({ hushed }) => hushed === 0);
    const took = await clock.until(isReceived, 5000);
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
      fabric.countNoise(needed);
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
    fabric.countNoise();
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
    fabric.countNoise();
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
});
