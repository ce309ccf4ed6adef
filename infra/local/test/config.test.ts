import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { fillTemplate } from '@parley/turn/template';
import { envoySpec } from '../src/envoy.ts';
import { writePrivate } from '../src/files.ts';
import { natsSpec } from '../src/nats.ts';
import { podSpecs } from '../src/pods.ts';
import { relaySpecs } from '../src/relays.ts';
import { ensureSecrets } from '../src/secrets.ts';
import type { ProcessSpec } from '../src/supervise.ts';
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
  const { files, args } = envoySpec(site);
  for (const file of files) {
    assert.doesNotMatch(file.content, /\$\{/);
    writePrivate(file.path, file.content);
  }
  const validated = spawnSync(site.tools.envoy, ['--mode', 'validate', ...args], { encoding: 'utf8' });
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

test('[BUS-8] each relay is a user of NATS with a password of its own, and its clients are sent to the media address alone', async (t) => {
  const site = await scratchSite(t);
  const login = ({ env }: ProcessSpec) => [env['PARLEY_RELAY_NATS_USER'], env['PARLEY_RELAY_NATS_PASSWORD']];
  const [one, other] = relaySpecs(site).map(login);
  assert.deepEqual([one?.[0], other?.[0]], ['relay-1', 'relay-2']);
  assert.notEqual(one?.[1], other?.[1]);
  const { env } = natsSpec(site);
  assert.deepEqual(
    [env['PARLEY_NATS_RELAY_1_PASSWORD'], env['PARLEY_NATS_RELAY_2_PASSWORD']],
    [one?.[1], other?.[1]],
  );
  for (const spec of podSpecs(site)) assert.equal(spec.env['PARLEY_MEDIA_HOSTS'], site.mediaIp);
});

test('for a relay that was not built the error names the command that builds it', () => {
  assert.throws(() => findTools({ ...process.env, CARGO_TARGET_DIR: '/nowhere' }), { message: /make build/ });
});

test('no password or secret is on a command line', async (t) => {
  const site = await scratchSite(t);
  const passwords = Object.values(site.secrets.natsPasswords);
  const line = natsSpec(site).args.join(' ');
  for (const secret of [...passwords, site.secrets.turnSecret]) assert.ok(!line.includes(secret));
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

test('a certificate that lacks an address is made again', (t) => {
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
