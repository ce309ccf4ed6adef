/** Real NATS servers with TLS and CAs of their own, and a server without TLS that records what a client sends. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from '../../../../infra/local/src/free-port.ts';
import { startNatsWithUsers, type TestNats } from './nats.ts';

export interface Certificates {
  /** Contains `tls.crt` and `tls.key` of the server, `ca.crt` of clients, and `NAME.crt` of each CA. */
  readonly directory: string;
  /** Sets the CA that clients trust. */
  readonly ca: string;
  /** Creates a CA of that name, and a new certificate of it for 127.0.0.1; each file is replaced at once. */
  certify(name: string): void;
  trust(name: string): void;
}

export function makeCertificates(t: TestContext): Certificates {
  const directory = mkdtempSync(path.join(tmpdir(), 'parley-tls-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const kind = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '2',
  ];
  const openssl = (...args: string[]): void => {
    const made = spawnSync('openssl', [...kind, ...args], { cwd: directory, encoding: 'utf8' });
    if (made.status !== 0) throw new Error(made.stderr);
  };
  const move = (from: string, to: string): void =>
    renameSync(path.join(directory, from), path.join(directory, to));
  return {
    directory,
    ca: path.join(directory, 'ca.crt'),
    certify(name) {
      openssl('-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.crt`);
      const by = ['-CA', `${name}.crt`, '-CAkey', `${name}.key`, '-keyout', 'new.key', '-out', 'new.crt'];
      const leaf = ['subjectAltName=IP:127.0.0.1', 'basicConstraints=critical,CA:FALSE'];
      openssl('-subj', '/CN=nats', ...by, ...leaf.flatMap((extension) => ['-addext', extension]));
      move('new.key', 'tls.key');
      move('new.crt', 'tls.crt');
    },
    trust(name) {
      copyFileSync(path.join(directory, `${name}.crt`), path.join(directory, 'trusted'));
      move('trusted', 'ca.crt');
    },
  };
}

/** A server with users that starts with the TLS handshake, as the chart's servers do. */
export async function startNatsWithTls(
  t: TestContext,
  { directory }: Certificates,
  port?: number,
): Promise<TestNats> {
  const files = `cert_file: "${directory}/tls.crt", key_file: "${directory}/tls.key"`;
  const nats = await startNatsWithUsers(`\ntls { ${files}, handshake_first: true }\n`, port);
  t.after(() => nats.close());
  return nats;
}

/** A server that greets as NATS without TLS does. It keeps the first byte that a client sends on each connection. */
export async function startPlain(t: TestContext) {
  const port = await freePort();
  const firstBytes: number[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (chunk) => {
      firstBytes.push(chunk[0] ?? -1);
      socket.destroy();
    });
    socket.write('INFO {"server_id":"x","version":"2.15.1","proto":1,"max_payload":1048576}\r\n');
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    if (server.listening) await once(server.close(), 'close');
  };
  t.after(close);
  return { port, url: `nats://127.0.0.1:${port}`, firstBytes, close };
}

/** The type of a TLS record that holds a handshake (RFC 8446, 5.1). */
export const HANDSHAKE = 22;
