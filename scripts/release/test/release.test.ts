/** A whole release with a registry of its own: `make test-release`. The programs are those of `make build`, the bases the lab's. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { describeLab } from '../../../infra/cluster/src/lab.ts';
import { run } from '../../../infra/cluster/src/run.ts';
import { platformHere, type Options } from '../options.ts';
import { buildRelease, pushRelease, type Built, type Pushed } from '../release.ts';
import { commonVersion, readCommit } from '../sources.ts';
import { pushImage } from '../registry.ts';
import { useCredentials, type Credentials } from '../credentials.ts';
import { password, startRegistry, user, type Registry } from './registry-here.ts';

const lab = describeLab(process.env);
const cosign = join(lab.toolDir('cosign', 'COSIGN_VERSION'), 'cosign');
const helm = join(lab.toolDir('helm', 'HELM_VERSION'), 'helm');
const scratch = mkdtempSync(join(tmpdir(), 'parley-release-'));
const version = `${commonVersion(readFileSync)}-test.1`;
const commit = readCommit();
const NAMES = ['signaling', 'relay', 'turn', 'web', 'cli'];

/** A new pair of keys without a password; answers the private one. */
async function makeKeys(name: string): Promise<string> {
  await run([cosign, 'generate-key-pair', '--output-key-prefix', join(scratch, name)], {
    COSIGN_PASSWORD: '',
  });
  return join(scratch, `${name}.key`);
}

const publicKey = (name: string): string => join(scratch, `${name}.pub`);

/** The commands of docs/operations/releases.md, for a release that is signed with a key. */
const check = (key: string) => ['--key', publicKey(key), '--insecure-ignore-tlog'];
const verify = (name: string, key = 'ours') => run([cosign, 'verify', ...check(key), name]);

async function attested(name: string, type: string): Promise<unknown> {
  const lines = await run([cosign, 'verify-attestation', ...check('ours'), '--type', type, name]);
  const { payload } = JSON.parse(lines.split('\n')[0] ?? '') as { payload: string };
  return (JSON.parse(Buffer.from(payload, 'base64').toString()) as { predicate: unknown }).predicate;
}

let registry: Registry;
let credentials: Credentials;
let options: Options;
let built: Built;
let pushed: Pushed;
process.env['COSIGN_PASSWORD'] = '';

const request = (directory: string) => ({
  options,
  commit,
  directory: join(scratch, directory),
  report: (line: string) => console.log(line),
});

before(async () => {
  registry = await startRegistry(scratch);
  credentials = useCredentials({ REGISTRY_USER: user, REGISTRY_PASSWORD: password }, registry.address);
  await makeKeys('other');
  options = {
    version,
    registry: `${registry.address}/parley`,
    isPlainHttp: true,
    push: true,
    key: await makeKeys('ours'),
    bases: 'stand-ins',
    profile: 'dev',
    isPrebuilt: true,
    platforms: [platformHere()],
    source: undefined,
  };
  built = await buildRelease(lab, request('first'));
  pushed = await pushRelease(lab, built, request('first'));
});

after(async () => {
  credentials.close();
  await registry.close();
  rmSync(scratch, { recursive: true, force: true });
});

test('a release has five images with an ordinary user, which name their version and their commit', async () => {
  assert.deepEqual(
    built.images.map(({ name }) => name),
    NAMES,
  );
  for (const { name, digest } of built.images) {
    assert.equal(await registry.digestOf(`parley/${name}`, version), digest);
    const image = `docker://${options.registry}/${name}:${version}`;
    const settings = await run(['skopeo', 'inspect', '--config', '--tls-verify=false', image]);
    const { config } = JSON.parse(settings) as { config: { User: string; Labels: Record<string, string> } };
    assert.equal(config.User, '10001:10001');
    assert.equal(config.Labels['org.opencontainers.image.version'], version);
    assert.equal(config.Labels['org.opencontainers.image.revision'], commit.revision);
  }
});

test('a release is signed: images and chart verify with its key, and with no other', async () => {
  for (const name of [...pushed.images, pushed.chart]) {
    assert.match(await verify(name), new RegExp(name.slice(-64)));
    await assert.rejects(verify(name, 'other'), /invalid signature|no matching signatures|failed to verify/);
  }
});

test('a release attests what each image contains, and the commit that images and chart are built from', async () => {
  for (const name of pushed.images) {
    const { packages } = (await attested(name, 'spdxjson')) as { packages: { name: string }[] };
    assert.ok(
      packages.some((one) => one.name === 'libc6'),
      `${name} contains a C library`,
    );
  }
  for (const name of [...pushed.images, pushed.chart]) {
    const predicate = (await attested(name, 'slsaprovenance1')) as {
      buildDefinition: { resolvedDependencies: unknown[] };
    };
    assert.deepEqual(predicate.buildDefinition.resolvedDependencies, [
      { uri: 'urn:parley:sources', digest: { gitCommit: commit.revision } },
    ]);
  }
});

test('a release has a chart whose pods run exactly the images that the registry has', async () => {
  const to = join(scratch, 'pulled');
  const chart = `oci://${options.registry}/charts/parley`;
  await run([helm, 'pull', chart, '--version', version, '--plain-http', '--untar', '--destination', to]);
  const examples = join(to, 'parley/examples/production.yaml');
  const objects = await run([helm, 'template', 'parley', join(to, 'parley'), '-f', examples]);
  for (const { name, digest } of built.images)
    assert.ok(
      objects.includes(`${options.registry}/${name}@${digest}`),
      `the chart runs ${name} by its digest`,
    );
  assert.doesNotMatch(objects, new RegExp(`${options.registry}/\\w+:`));
  const described = await run([helm, 'show', 'chart', chart, '--version', version, '--plain-http']);
  assert.match(described, new RegExp(`^version: ${version}$`, 'm'));
  assert.match(described, new RegExp(`^appVersion: ${version}$`, 'm'));
});

test('a release is refused where another image has taken its tag', async () => {
  const [first, second] = built.images;
  assert.ok(first && second);
  const tag = `${options.registry}/${first.name}:${version}`;
  await verify(tag);
  await pushImage({ ...second, name: first.name }, options);
  await assert.rejects(verify(tag), /no signatures found|no matching/);
  await pushImage(first, options);
  await verify(tag);
});

test('a release has packages whose hashes are signed: the command, the SDK and the chart', async () => {
  const directory = built.directory;
  const sums = join(directory, 'SHA256SUMS');
  const listed = readFileSync(sums, 'utf8').match(/\S+$/gm);
  assert.deepEqual(listed, [
    `parley-${version}-${platformHere().replace('/', '-')}.tar.gz`,
    `parley-${version}.tgz`,
    `parley-sdk-${version}-reference.tar.gz`,
    `parley-sdk-${version}.tgz`,
  ]);
  execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: directory });
  const bundle = ['--bundle', `${sums}.sigstore.json`];
  await run([cosign, 'verify-blob', ...check('ours'), ...bundle, sums]);
  assert.equal(readFileSync(join(directory, 'cosign.pub'), 'utf8'), readFileSync(publicKey('ours'), 'utf8'));
  const changed = join(scratch, 'changed');
  cpSync(sums, changed);
  writeFileSync(changed, 'ff  other\n', { flag: 'a' });
  await assert.rejects(run([cosign, 'verify-blob', ...check('ours'), ...bundle, changed]));
});

test('a release has the same digests when it is built again from the same commit and layers', async () => {
  const again = await buildRelease(lab, request('again'));
  assert.deepEqual(
    again.images.map(({ digest }) => digest),
    built.images.map(({ digest }) => digest),
  );
  const sums = (at: Built) => readFileSync(join(at.directory, 'SHA256SUMS'), 'utf8');
  assert.equal(sums(again), sums(built));
});
