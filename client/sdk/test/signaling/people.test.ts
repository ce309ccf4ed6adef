import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { member, participant, welcome } from '../fakes/messages.ts';
import { fakeService } from '../fakes/service.ts';
import { nextSocket } from '../fakes/steps.ts';

describe('people and TURN credentials', () => {
  test('the connection to a participant who leaves is closed', async () => {
    const service = fakeService();
    const call = await service.enter();
    service.socket.sendMessage({ type: 'joined', member: member(participant('a'), 'Ada') });
    assert.equal(service.ports.fabric.live.length, 1);
    service.socket.sendMessage({ type: 'left', participant: participant('a'), reason: 'left' });
    assert.equal(service.ports.fabric.live.length, 0);
    assert.deepEqual(call.snapshot().people, []);
  });

  test('connections to people who are away stay, also when our own socket is lost', async () => {
    const service = fakeService();
    await service.enter();
    service.socket.sendMessage({ type: 'joined', member: member(participant('a'), 'Ada') });
    service.socket.sendMessage({ type: 'away', participant: participant('a') });
    service.socket.drop(1006);
    await service.ports.clock.advance(400);
    assert.equal(service.ports.fabric.live.length, 1);
  });

  test('an offer that arrives before its sender is known is kept for a moment', async () => {
    const service = fakeService();
    const call = await service.enter();
    const ada = participant('z');
    const offer = { type: 'description', session: 9, round: 1, kind: 'offer', sdp: 'm=audio 0', roles: [] };
    service.socket.text(`<${ada}\n${JSON.stringify(offer)}`);
    service.socket.sendMessage({ type: 'joined', member: member(ada, 'Zoe') });
    await service.ports.clock.advance(100);
    assert.equal(service.ports.fabric.live.length, 1);
    assert.equal(call.snapshot().people.length, 1);
  });

  const turn = (credential: string) => [{ urls: ['turn:192.0.2.1'], username: '1:network', credential }];
  const configured = ({ ports }: ReturnType<typeof fakeService>): unknown[] =>
    ports.fabric.live.map((connection) => connection.getConfiguration().iceServers);
  const asked = ({ socket }: ReturnType<typeof fakeService>): number =>
    socket.sent.filter(({ type }) => type === 'ice').length;
  /** The pod is alive: without its messages the client would abandon the socket. */
  const alive = (service: ReturnType<typeof fakeService>, ms: number): void => {
    for (let at = 0; at < ms; at += 4000)
      service.ports.clock.after(at, () => service.socket.sendMessage({ type: 'pong' }));
  };

  test('[TURN-10] [MEDIA-30] connections use the ICE servers of the welcome, and those of a resume too, and keep their certificate', async () => {
    const certificate = { expires: 0 } as RTCCertificate;
    const service = fakeService({ certificates: () => [certificate] });
    service.join();
    await service.settle();
    service.socket.open();
    const roster = [member(participant('a'), 'Ada')];
    service.socket.sendMessage(welcome({ roster, iceServers: turn('first'), iceTtlS: 600 }));
    assert.deepEqual(configured(service), [turn('first')]);
    service.socket.drop(1006);
    await nextSocket(service);
    service.socket.open();
    service.socket.sendMessage(welcome({ roster, iceServers: turn('second'), iceTtlS: 600 }));
    assert.deepEqual(configured(service), [turn('second')]);
    const certificates = service.ports.fabric.live.map((one) => one.getConfiguration().certificates?.[0]);
    assert.deepEqual(certificates, [certificate]);
    assert.equal(asked(service), 0);
  });

  test('[TURN-2] credentials are renewed at 70 to 80 % of their lifetime, for existing and for new connections', async () => {
    const service = fakeService();
    await service.enter();
    service.socket.sendMessage({ type: 'ice', iceServers: turn('first'), iceTtlS: 600 });
    alive(service, 700_000);
    const took = (await service.ports.clock.until(() => asked(service) === 1, 600_000)) ?? 0;
    assert.ok(took >= 420_000 && took <= 480_000, String(took));
    service.socket.sendMessage({ type: 'joined', member: member(participant('a'), 'Ada') });
    service.socket.sendMessage({ type: 'ice', iceServers: turn('second'), iceTtlS: 600 });
    service.socket.sendMessage({ type: 'joined', member: member(participant('b'), 'Bo') });
    assert.deepEqual(configured(service), [turn('second'), turn('second')]);
  });

  test('[TURN-13] a connection bundles from its first offer, also after it received other servers', async () => {
    const service = fakeService();
    await service.enter();
    service.socket.sendMessage({ type: 'joined', member: member(participant('a'), 'Ada') });
    const bundling = (): unknown[] =>
      service.ports.fabric.live.map((connection) => connection.getConfiguration().bundlePolicy);
    assert.deepEqual(bundling(), ['max-bundle']);
    service.socket.sendMessage({ type: 'ice', iceServers: turn('first'), iceTtlS: 600 });
    assert.deepEqual(configured(service), [turn('first')]);
    assert.deepEqual(bundling(), ['max-bundle']);
  });

  test('[TURN-2] a request without an answer is repeated while the credentials are valid', async () => {
    const service = fakeService();
    await service.enter();
    service.socket.sendMessage({ type: 'ice', iceServers: turn('first'), iceTtlS: 600 });
    alive(service, 700_000);
    assert.notEqual(await service.ports.clock.until(() => asked(service) === 2, 600_000), null);
  });

  test('[TURN-11] a refused request is repeated after the time that the pod states', async () => {
    const service = fakeService();
    await service.enter();
    const refused = { type: 'error', code: 'TOO_MANY_ICE_REQUESTS', message: '', fatal: false } as const;
    service.socket.sendMessage({ ...refused, retryAfterMs: 7000 });
    alive(service, 20_000);
    assert.equal(await service.ports.clock.until(() => asked(service) === 1, 20_000), 7000);
  });
});
