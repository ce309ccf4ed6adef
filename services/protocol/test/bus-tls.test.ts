import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { test } from 'node:test';
import { busTls, checkCaFile } from '../src/bus-tls.ts';

test('[BUS-9] [BUS-10] a CA and tls:// require TLS, and nothing else does', () => {
  assert.deepEqual(busTls(['nats://a:4222'], undefined), {});
  assert.deepEqual(busTls(['nats://a:4222', 'tls://b:4222'], undefined), { tls: {} });
  for (const scheme of ['nats', 'tls'])
    assert.deepEqual(busTls([`${scheme}://a:4222`], '/ca.crt'), {
      tls: { caFile: '/ca.crt', handshakeFirst: true },
    });
});

test('[BUS-10] a CA file holds one certificate or several, and each can be read', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-ca-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'ca.crt');
  const [one = '', two = ''] = rootCertificates;
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  for (const text of [one, `# old and new\n${one}\n${two}\n`]) {
    writeFileSync(file, text);
    assert.equal(checkCaFile(file), file);
  }
  assert.throws(() => checkCaFile(join(directory, 'none')), { message: `${directory}/none cannot be read` });
  for (const [text, reason] of [
    ['', 'holds no certificate (PEM)'],
    ['{}', 'holds no certificate (PEM)'],
    [`${one}\n${broken}`, 'has a certificate that cannot be read'],
  ] as const) {
    writeFileSync(file, text);
    assert.throws(() => checkCaFile(file), { message: `${file} ${reason}` });
  }
});
