/** The pod's connection to real NATS servers with TLS, and with CAs and certificates that change. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { busTls } from '@parley/protocol/bus-tls';
import { connectNats } from '../../src/adapters/nats-connection.ts';
import { readConfig } from '../../src/server/config.ts';
import { eventually, within } from '../support/deadline.ts';
import { freePort } from '../../../../infra/local/src/free-port.ts';
import { startNatsWithUsers } from '../support/nats.ts';
import { HANDSHAKE, makeCertificates, startNatsWithTls, startPlain } from '../support/nats-tls.ts';

interface Dialled {
  readonly done: Promise<NatsConnection>;
  readonly isDone: () => boolean;
  /** Why there was no connection yet. */
  readonly reasons: readonly string[];
}

/** Starts to connect, and retries until it succeeds. */
function dial(t: TestContext, server: string, ca: string): Dialled {
  let opened: NatsConnection | undefined;
  const reasons: string[] = [];
  const onUnreachable = (reason: string): void => void reasons.push(reason);
  const as = { user: 'signaling', password: 'signaling', name: 'pod-a' };
  const options = { servers: [server], ca, onUnreachable, ...as };
  const done = connectNats(options).then((connection) => (opened = connection));
  t.after(() => opened?.close());
  return { done, isDone: () => opened !== undefined, reasons };
}

const refusals = (log: string): number => log.split('TLS handshake error').length - 1;

for (const scheme of ['tls', 'nats'])
  test(`[BUS-9] [BUS-11] [BUS-14] ${scheme}://: a server of another CA is refused until the file names that one`, async (t) => {
    const certificates = makeCertificates(t);
    certificates.certify('second');
    certificates.trust('second');
    certificates.certify('first');
    const nats = await startNatsWithTls(t, certificates);
    const dialled = dial(t, nats.url.replace('nats', scheme), certificates.ca);
    await eventually('the server is refused twice', () => refusals(nats.log()) > 1);
    assert.equal(dialled.isDone(), false);
    assert.match(dialled.reasons.join('; '), /certificate/);
    certificates.trust('first');
    const connection = await within('the connection', dialled.done);
    await connection.flush();
  });

test('[BUS-9] nothing is sent to a server without TLS, and one with TLS in its place is accepted', async (t) => {
  const certificates = makeCertificates(t);
  certificates.certify('first');
  certificates.trust('first');
  const plain = await startPlain(t);
  const dialled = dial(t, plain.url, certificates.ca);
  await eventually('two attempts', () => plain.firstBytes.length > 1);
  assert.deepEqual(new Set(plain.firstBytes), new Set([HANDSHAKE]));
  assert.equal(dialled.isDone(), false);
  await plain.close();
  await startNatsWithTls(t, certificates, plain.port);
  await within('the connection', dialled.done);
});

test('[BUS-14] a server that was down at the first connection is used later', async (t) => {
  const port = await freePort();
  const first = await startNatsWithUsers();
  t.after(() => first.close());
  const servers = [`nats://127.0.0.1:${port}`, first.url];
  // The client tries servers in random order: the one that is down is the first of some.
  const options = { servers, user: 'signaling', password: 'signaling', name: 'pod-a' };
  const connections = await Promise.all(Array.from({ length: 8 }, () => connectNats(options)));
  t.after(() => Promise.all(connections.map((connection) => connection.close())));
  const changes = connections.map(statusesOf);
  const second = await startNatsWithUsers('', port);
  t.after(() => second.close());
  await first.kill();
  await eventually('the other server', () => changes.every((types) => types.includes('reconnect')));
  await Promise.all(connections.map((connection) => connection.flush()));
});

test('[BUS-9] a certificate for another name is refused', async (t) => {
  const certificates = makeCertificates(t);
  certificates.certify('first');
  certificates.trust('first');
  const nats = await startNatsWithTls(t, certificates);
  const servers = [nats.url.replace('127.0.0.1', 'localhost')];
  const dialled = connect({ servers, reconnect: false, ...busTls(servers, certificates.ca) });
  await assert.rejects(dialled, /altnames|ECONNREFUSED/);
  await eventually('the server logs the refusal', () => refusals(nats.log()) > 0);
});

test('[BUS-10] tls:// without a CA accepts neither a server without TLS nor one of a private CA', async (t) => {
  const certificates = makeCertificates(t);
  certificates.certify('first');
  const nats = await startNatsWithTls(t, certificates);
  const plain = await startPlain(t);
  for (const { url } of [plain, nats]) {
    const servers = [url.replace('nats', 'tls')];
    await assert.rejects(
      connect({ servers, reconnect: false, timeout: 2000, ...busTls(servers, undefined) }),
    );
  }
  assert.deepEqual(plain.firstBytes, []);
});

test('[BUS-10] a CA file that is missing or invalid ends the pod with a sentence', () => {
  const ended = (ca: string) => () =>
    readConfig({ PARLEY_POD: 'a', PARLEY_NATS_URL: 'tls://n', PARLEY_KEYS_FILE: '/x', PARLEY_NATS_CA: ca });
  assert.throws(ended('/none'), { message: 'configuration: PARLEY_NATS_CA: /none cannot be read' });
  assert.throws(ended(import.meta.filename), /PARLEY_NATS_CA: .*tls\.test\.ts holds no certificate/);
});

test('[BUS-11] [BUS-13] a new certificate breaks no connection and serves new ones, and a new CA counts from the next connection', async (t) => {
  const certificates = makeCertificates(t);
  certificates.certify('first');
  certificates.trust('first');
  const nats = await startNatsWithTls(t, certificates);
  const old = await within('the connection', dial(t, nats.url, certificates.ca).done);
  const changes = statusesOf(old);
  certificates.certify('second');
  nats.reload();
  await eventually('the server has read it', () => nats.log().includes('Reloaded server configuration'));
  const later = dial(t, nats.url, certificates.ca);
  await eventually('its new certificate is refused', () => refusals(nats.log()) > 0);
  await old.flush();
  assert.ok(!changes.includes('disconnect'));
  certificates.trust('second');
  await within('the new connection', later.done);
  await nats.kill();
  await nats.start();
  await eventually('the old connection again', () => changes.includes('reconnect'));
});

function statusesOf(connection: NatsConnection): string[] {
  const found: string[] = [];
  void (async () => {
    for await (const status of connection.status()) found.push(status.type);
  })();
  return found;
}
