/** The agent's connection to real NATS servers with TLS. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turnNodeSubject } from '@parley/protocol/subjects';
import { eventually } from '../../signaling/test/support/deadline.ts';
import {
  HANDSHAKE,
  makeCertificates,
  startNatsWithTls,
  startPlain,
} from '../../signaling/test/support/nats-tls.ts';
import { openNats } from '../src/agent/nats.ts';
import { readSettings } from '../src/agent/settings.ts';
import { base } from './agent.ts';

test('[BUS-9] [BUS-11] a server of another CA is refused until the file names that one', async (t) => {
  const certificates = makeCertificates(t);
  certificates.certify('second');
  certificates.trust('second');
  certificates.certify('first');
  const nats = await startNatsWithTls(t, certificates);
  const settings = { servers: [nats.url], user: 'turn', password: 'turn', ca: certificates.ca };
  const bus = openNats(settings, 'node-a');
  t.after(() => bus.close());
  await eventually('it is refused', () => nats.log().includes('TLS handshake error'));
  assert.equal(bus.publish(turnNodeSubject, 'lost'), false);
  certificates.trust('first');
  await eventually('it is taken', () => bus.publish(turnNodeSubject, 'said'));
});

test('[BUS-9] nothing is sent to a server without TLS, and one with TLS in its place is accepted', async (t) => {
  const certificates = makeCertificates(t);
  certificates.certify('first');
  certificates.trust('first');
  const plain = await startPlain(t);
  const settings = { servers: [plain.url], user: 'turn', password: 'turn', ca: certificates.ca };
  const bus = openNats(settings, 'node-a');
  t.after(() => bus.close());
  await eventually('an attempt', () => plain.firstBytes.length > 0);
  assert.deepEqual(new Set(plain.firstBytes), new Set([HANDSHAKE]));
  await plain.close();
  await startNatsWithTls(t, certificates, plain.port);
  await eventually('it is taken', () => bus.publish(turnNodeSubject, 'said'));
});

test('[BUS-10] a CA file that is missing or invalid ends the agent with a sentence', () => {
  const with_ = (ca: string) => () =>
    readSettings({ ...base, PARLEY_TURN_NATS_URL: 'tls://127.0.0.1:4222', PARLEY_TURN_NATS_CA: ca });
  assert.throws(with_('/none'), /PARLEY_TURN_NATS_CA: \/none cannot be read/);
  assert.throws(with_('/etc/hostname'), /PARLEY_TURN_NATS_CA: \/etc\/hostname holds no certificate/);
});
