import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Call, CallOptions } from '../../src/call.ts';
import { fakeRegions, listOf, remembering, type FakeRegions, type Name } from '../fakes/regions.ts';
import { ROOM, member, participant, welcome } from '../fakes/messages.ts';
import { joinAnswer } from '../fakes/service.ts';
import { nextSocket, status } from '../fakes/steps.ts';

const socketIn = (name: Name): string => `wss://${name}/v1/rooms/${ROOM}/socket`;
/** `joinAnswer` has it; it is in `eu`. */
const ANSWERED = 'ws://pod/socket';
const isInEurope = (url: string): boolean => url === ANSWERED || url === socketIn('eu');
const OTHER = participant('a');

async function welcomed({ service }: FakeRegions, region: Name): Promise<void> {
  service.socket.open();
  const roster = [member(OTHER, 'Ada')];
  service.socket.sendMessage(welcome({ regions: listOf(region), resume: `token of ${region}`, roster }));
  await service.settle();
}

/** In `eu`, as it is the nearest. */
async function inEurope(regions: FakeRegions, change?: Partial<CallOptions>): Promise<Call> {
  const call = regions.service.join(change);
  await nextSocket(regions.service);
  assert.equal(regions.service.socket.url, ANSWERED);
  await welcomed(regions, 'eu');
  regions.probes.length = 0;
  return call;
}

const lab = (): FakeRegions => fakeRegions({ eu: 5, us: 90, ap: 150 });

/** The time until a socket to another region is opened; `null` if none is within `ms`. */
async function untilElsewhere({ service }: FakeRegions, ms: number): Promise<number | null> {
  const took = await service.ports.clock.until(() => service.sockets.some(({ url }) => !isInEurope(url)), ms);
  await service.settle();
  return took;
}

/** The sockets of `eu` that are opened from now on break after as many ms; `null`: they never open. */
function breakSockets({ service }: FakeRegions, afterMs: number | null): void {
  const { ports } = service;
  const open = ports.openSocket;
  Object.assign(ports, {
    openSocket: (...args: Parameters<typeof open>) => {
      const opened = open(...args);
      const { socket } = service;
      if (isInEurope(args[0]) && afterMs !== null) ports.clock.after(afterMs, () => socket.drop(1006));
      return opened;
    },
  });
}

describe('the handover to another region', () => {
  test('[REG-9] with other regions silence is noticed sooner: a ping after 2.5 s, closed 2 s later', async () => {
    const regions = lab();
    const { service } = regions;
    const call = await inEurope(regions);
    const pings = (): number => service.sockets[0]?.sent.filter(({ type }) => type === 'ping').length ?? 0;
    await service.ports.clock.advance(2499);
    assert.equal(pings(), 0);
    await service.ports.clock.advance(1);
    assert.equal(pings(), 1);
    await service.ports.clock.advance(1999);
    assert.equal(status(call), 'connected');
    await service.ports.clock.advance(1);
    assert.equal(status(call), 'recovering');
  });

  test('[REG-9] a region from which nothing comes back is left for the nearest other one, as the same participant', async () => {
    const regions = lab();
    const { service } = regions;
    const call = await inEurope(regions);
    regions.trips.eu = null;
    const took = await untilElsewhere(regions, 10_000);
    // Silence, a suspicion, at most half a second of jitter, and the head start.
    assert.ok(took !== null && took >= 4500 + 600 && took <= 5600, `took ${took}`);
    assert.equal(service.socket.url, socketIn('us'));
    const { connection, people } = call.snapshot();
    assert.equal(connection.status === 'recovering' && connection.movingTo, 'us');
    assert.deepEqual(
      people.map(({ presence }) => presence),
      ['here'],
    );
    service.socket.open();
    const [resume] = service.socket.sent;
    assert.deepEqual([resume?.['type'], resume?.['token']], ['resume', 'token of eu']);
    assert.equal(resume?.['generation'], service.sockets.length, 'a higher generation for each socket');
    assert.equal(service.sockets.at(-2)?.closed, 1000, 'its own attempt has ended');
    await welcomed(regions, 'us');
    assert.equal(status(call), 'connected');
    assert.equal(service.joins.length, 1);
  });

  test('[REG-9] a region whose pods all refuse is left too', async () => {
    const regions = lab();
    await inEurope(regions);
    regions.trips.eu = 'refuses';
    breakSockets(regions, 1);
    regions.service.socket.drop(1006);
    await nextSocket(regions.service);
    // From its own first attempt.
    assert.equal(await untilElsewhere(regions, 10_000), 600);
  });

  test('[REG-9] a region that answers is not left, however long a resume takes there', async () => {
    const regions = lab();
    await inEurope(regions);
    breakSockets(regions, 100);
    regions.service.socket.drop(1006);
    assert.equal(await untilElsewhere(regions, 30_000), null);
    assert.ok(regions.probes.includes('us'), 'others were considered');
  });

  test('[REG-9] a pod that is replaced at once costs no probe', async () => {
    const regions = lab();
    await inEurope(regions);
    regions.service.socket.drop(1006);
    await nextSocket(regions.service);
    await regions.service.ports.clock.advance(249);
    await welcomed(regions, 'eu');
    await regions.service.ports.clock.advance(1000);
    assert.deepEqual(regions.probes, []);
  });

  test('[REG-9] while no region answers the client tries its own, and moves once another one does', async () => {
    const regions = lab();
    const { service } = regions;
    await inEurope(regions);
    Object.assign(regions.trips, { eu: null, us: null, ap: null });
    breakSockets(regions, 100);
    assert.equal(await untilElsewhere(regions, 30_000), null);
    regions.trips.ap = 150;
    const took = await untilElsewhere(regions, 10_000);
    assert.ok(took !== null && took < 9000, `took ${took}`);
    assert.equal(service.socket.url, socketIn('ap'));
  });

  test('[REG-9] after a time in which no region answered, joins of its own region neither, a client moves once another one does', async () => {
    const regions = lab();
    const { service } = regions;
    await inEurope(regions);
    Object.assign(regions.trips, { eu: null, us: null, ap: null });
    service.answers = [() => new TypeError('failed to fetch')];
    breakSockets(regions, 100);
    service.socket.drop(1006);
    assert.equal(await untilElsewhere(regions, 60_000), null);
    regions.trips.us = 90;
    assert.notEqual(await untilElsewhere(regions, 15_000), null);
    assert.equal(service.socket.url, socketIn('us'));
  });

  test('[REG-9] one answer of its own region is enough to stay, however near others are', async () => {
    const regions = fakeRegions({ eu: 200, us: 20, ap: 300 });
    const { service } = regions;
    service.join({ region: 'eu' });
    await nextSocket(service);
    await welcomed(regions, 'eu');
    service.socket.drop(1006);
    assert.equal(await untilElsewhere(regions, 3000), null);
  });

  test('[REG-9] a client with a welcome stays: nothing is decided after it', async () => {
    const regions = lab();
    const { service } = regions;
    await inEurope(regions);
    regions.trips.eu = null;
    service.socket.drop(1006);
    await nextSocket(service);
    await service.ports.clock.advance(590);
    await welcomed(regions, 'eu');
    // It is connected and stays so, as the pod answers.
    for (let second = 0; second < 5; second += 1) {
      await service.ports.clock.advance(1000);
      service.socket.sendMessage({ type: 'pong' });
    }
    assert.equal(
      service.sockets.some(({ url }) => url.startsWith('wss:')),
      false,
    );
  });

  test('[REG-9] [MOD-5] a newcomer in the lobby of a region that ended waits in another one', async () => {
    const regions = lab();
    const { service } = regions;
    service.join();
    await nextSocket(service);
    service.socket.open();
    const { room } = joinAnswer;
    service.socket.sendMessage({ type: 'lobby-waiting', room: { ...room, kind: 'named', lobby: true } });
    service.answers = [() => new TypeError('failed to fetch')];
    regions.trips.eu = null;
    service.socket.drop(1006);
    const joined = (): boolean => service.joins.some(({ what }) => what.startsWith('POST https://us/'));
    assert.notEqual(await service.ports.clock.until(joined, 10_000), null);
  });

  test('[REG-9] [RES-13] a pod that lets the resume wait for its turn has answered', async () => {
    const regions = lab();
    const { service } = regions;
    await inEurope(regions);
    regions.trips.eu = null;
    service.socket.drop(1006);
    await nextSocket(service);
    service.socket.open();
    service.socket.sendMessage({ type: 'wait', afterMs: 20_000 });
    const waiting = service.socket;
    await service.ports.clock.advance(4000);
    assert.equal(waiting.closed, null);
    assert.equal(service.socket, waiting);
  });

  test('leaving during the handover ends it', async () => {
    const regions = lab();
    const call = await inEurope(regions);
    regions.trips.eu = null;
    await regions.service.ports.clock.advance(5000);
    assert.equal(status(call), 'recovering');
    call.leave();
    const sockets = regions.service.sockets.length;
    await regions.service.ports.clock.advance(20_000);
    assert.equal(regions.service.sockets.length, sockets);
    assert.equal(regions.service.ports.clock.pending, 0);
  });
});

describe('the return', () => {
  async function inUs(regions: FakeRegions): Promise<void> {
    await inEurope(regions, remembering(regions));
    regions.trips.eu = null;
    await untilElsewhere(regions, 10_000);
    await welcomed(regions, 'us');
    regions.probes.length = 0;
  }

  test('[REG-10] a client that left its region stays when that is back', async () => {
    const regions = lab();
    await inUs(regions);
    regions.trips.eu = 5;
    const { service } = regions;
    service.socket.drop(1006);
    await nextSocket(service);
    assert.equal(service.socket.url, socketIn('us'));
  });

  test('[REG-10] it returns when the pod drains, if its region answers', async () => {
    const regions = lab();
    await inUs(regions);
    const { service } = regions;
    service.socket.sendMessage({ type: 'goaway', afterMs: 1000 });
    await nextSocket(service);
    assert.equal(service.socket.url, socketIn('us'), 'it does not answer');
    await welcomed(regions, 'us');
    regions.trips.eu = 5;
    service.socket.sendMessage({ type: 'goaway', afterMs: 1000 });
    assert.equal(await nextSocket(service), 1000);
    assert.equal(service.socket.url, socketIn('eu'));
    service.socket.open();
    assert.equal(service.socket.sent[0]?.['token'], 'token of us');
  });

  test('[REG-10] one that did not leave its region sends no probe when a pod drains', async () => {
    const regions = lab();
    await inEurope(regions);
    regions.service.socket.sendMessage({ type: 'goaway', afterMs: 1000 });
    await nextSocket(regions.service);
    assert.equal(regions.service.socket.url, ANSWERED);
    assert.deepEqual(regions.probes, []);
  });

  test('[REG-10] a reload chooses again, and is the same participant', async () => {
    const regions = lab();
    await inUs(regions);
    const { service } = regions;
    regions.trips.eu = 5;
    service.join(remembering(regions));
    await nextSocket(service);
    assert.equal(service.socket.url, socketIn('eu'));
    service.socket.open();
    const [resume] = service.socket.sent;
    assert.deepEqual([resume?.['type'], resume?.['token']], ['resume', 'token of us']);
    regions.trips.eu = null;
    await welcomed(regions, 'eu');
    service.join(remembering(regions));
    await nextSocket(service);
    assert.equal(service.socket.url, socketIn('us'), 'a reload in a region that does not answer');
  });
});
