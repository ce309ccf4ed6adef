import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fillTemplate } from '@parley/turn/template';
import { renderEnvoy } from '../src/envoy.ts';
import { writePrivate } from '../src/files.ts';
import { natsSpec } from '../src/nats.ts';
import { ensureSecrets } from '../src/secrets.ts';
import { findTools } from '../src/tools.ts';
import { scratchDir, scratchSite } from './scratch.ts';

test('a template whose placeholder has no value is refused by its name', () => {
  assert.throws(() => fillTemplate('a ${ONE} ${TWO}', { ONE: '1' }), { message: /\$\{TWO\}/ });
});

test('a value that the template does not name is refused by its name', () => {
  assert.throws(() => fillTemplate('a ${ONE}', { ONE: '1', TWO: '2' }), { message: /TWO/ });
});

test('a value is put in as it is', () => {
  assert.equal(fillTemplate('<${ONE}>', { ONE: "$& $1 $$ ' \\1" }), "<$& $1 $$ ' \\1>");
});

test('the edge configuration has no placeholder left and Envoy accepts it', async (t) => {
  const site = await scratchSite(t);
  const config = join(site.dir, 'envoy.yaml');
  const content = renderEnvoy(site);
  assert.doesNotMatch(content, /\$\{/);
  writePrivate(config, content);
  const validated = spawnSync(site.tools.envoy, ['--mode', 'validate', '-c', config], { encoding: 'utf8' });
  assert.equal(validated.status, 0, validated.stderr);
  assert.doesNotMatch(validated.stderr, /deprecated/i);
});

test('the NATS configuration has no placeholder left and nats-server accepts it', async (t) => {
  const site = await scratchSite(t);
  const { files, args, env } = natsSpec(site);
  for (const file of files) {
    assert.doesNotMatch(file.content, /\$\{/);
    writePrivate(file.path, file.content);
  }
  const checked = spawnSync(site.tools.natsServer, [...args, '-t'], { encoding: 'utf8', env });
  assert.equal(checked.status, 0, checked.stderr);
});

test('a relay that was not built is missed with a sentence that says how to build it', () => {
  assert.throws(() => findTools({ ...process.env, CARGO_TARGET_DIR: '/nowhere' }), { message: /make build/ });
});

test('no password or secret is on a command line', async (t) => {
  const site = await scratchSite(t);
  const { signaling, relay, turn } = site.secrets.natsPasswords;
  const line = natsSpec(site).args.join(' ');
  for (const secret of [signaling, relay, turn, site.secrets.turnSecret]) assert.ok(!line.includes(secret));
});

test('secrets are made once, differ between installations, and only their owner reads them', (t) => {
  const [one, two] = [scratchDir(t), scratchDir(t)];
  const first = ensureSecrets(one, ['127.77.0.1']);
  assert.deepEqual(ensureSecrets(one, ['127.77.0.1']), first);
  assert.notEqual(ensureSecrets(two, []).turnSecret, first.turnSecret);
  assert.ok(!readFileSync(first.publicKeysFile, 'utf8').includes('"d"'));
  for (const file of [first.keysFile, first.publicKeysFile, first.turnSecretFile, first.tlsKeyFile]) {
    assert.equal(statSync(file).mode & 0o777, 0o600, file);
  }
});

test('the certificate is made anew when it lacks an address', (t) => {
  const dir = scratchDir(t);
  ensureSecrets(dir, ['127.77.0.1']);
  const { tlsCertFile } = ensureSecrets(dir, ['127.77.0.9']);
  const text = execFileSync('openssl', [
    'x509',
    '-in',
    tlsCertFile,
    '-noout',
    '-ext',
    'subjectAltName',
  ]).toString();
  assert.match(text, /127\.77\.0\.9/);
});
