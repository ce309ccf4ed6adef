import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { rootCertificates } from 'node:tls';
import { setTimeout as pause } from 'node:timers/promises';
import { createTokens } from '../../services/signaling/src/adapters/tokens.ts';
import { readConfig } from '../../services/signaling/src/server/config.ts';
import { readSettings } from '../../services/turn/src/agent/settings.ts';
import { staleGoldens } from './golden.ts';
import { queriedNames, queryFiles, exportedNames, isExported } from './metrics.ts';
import { CHART, fileOf, KUBERNETES, render, renderChart, schemaLocation, tool } from './tools.ts';
import { driftOf, readTemplates } from './usage.ts';
import { readValues } from './values.ts';

/** What no example has, so that every template renders something. */
const EVERYTHING = [
  ['-f', `${CHART}/examples/production.yaml`],
  ['--set', 'relay.leaves.replicas=2,relay.media.persistence=true,relay.autoscaling.enabled=true'],
  ['--set', 'relay.access=token,secrets.streams.existingSecret=streams,edge.connections.perSource=2000'],
  [
    '--set',
    'nats.gateways.enabled=true,nats.gateways.tlsSecret=regions,nats.gateways.remotes[0].name=us-east',
  ],
  ['--set', 'nats.gateways.remotes[0].urls[0]=nats://us.example.com:7222'],
].flat();
const ADDITIONS = [
  '-f',
  'infra/cluster/platform-values.yaml',
  '--set',
  'turn.enabled=true,turn.host=t.example.com',
  '--set',
  'networkPolicies.nodes[0].ipBlock.cidr=10.0.0.0/16,networkPolicies.nodes[1].ipBlock.cidr=2001:db8::/32',
];
const LOAD_BALANCERS = ['--set', 'relay.media.expose=LoadBalancer,relay.media.host=$(POD_NAME).example.com'];

/** Kinds of operators and of Gateway API: their schemas are no part of Kubernetes. */
const OTHERS = 'Certificate,HTTPRoute,PodMonitor,PrometheusRule';

test('every described value is used, and every used value is described', () => {
  assert.deepEqual(driftOf(readValues(), readTemplates()), { unused: [], undescribed: [] });
});

test('helm lint finds nothing', () => {
  const linted = spawnSync(tool('helm', 'HELM_VERSION'), ['lint', '--strict', CHART], { encoding: 'utf8' });
  assert.equal(linted.status, 0, linted.stdout);
});

test('a name that the schema does not know is refused, and a wrong type', () => {
  assert.throws(() => render('--set', 'signaling.replcias=2'), { message: /replcias/ });
  assert.throws(() => render('--set', 'signaling.replicas=two'), { message: /got string, want integer/ });
});

test('the examples render as they were last looked at (npm run chart:golden writes them)', () => {
  assert.deepEqual(staleGoldens(), []);
});

for (const version of KUBERNETES)
  test(`Kubernetes ${version} knows every object and every field`, () => {
    const settings = [[], EVERYTHING, [...EVERYTHING, ...LOAD_BALANCERS], ADDITIONS];
    const objects = settings.map((options) => render(...options)).join('\n---\n');
    const asked = ['-strict', '-n', '1', '-skip', OTHERS, '-kubernetes-version', version];
    const checked = spawnSync(
      tool('kubeconform', 'KUBECONFORM_VERSION'),
      [...asked, '-schema-location', schemaLocation(), '-'],
      { encoding: 'utf8', input: objects },
    );
    assert.equal(checked.status, 0, checked.stdout + checked.stderr);
  });

test('an upgrade to another version of the chart restarts no pod that it does not change', (t) => {
  const next = join(scratch(t), 'parley');
  cpSync(CHART, next, { recursive: true });
  const description = readFileSync(join(next, 'Chart.yaml'), 'utf8');
  writeFileSync(join(next, 'Chart.yaml'), description.replace(/^version: .*$/m, 'version: 99.0.0'));
  const pods = (chart: string): string[] => {
    const objects = renderChart(chart, ...EVERYTHING).split(/^---\n/m);
    return objects.flatMap((object) => /^ {2}template:\n[\s\S]*/m.exec(object)?.[0] ?? []);
  };
  assert.ok(pods(CHART).length >= 8);
  assert.deepEqual(pods(next), pods(CHART));
});

test('gateway servers restart for another list of regions only where that list decides who is let in', () => {
  const checksum = (...settings: string[]): string | undefined => {
    const gateways = settings.map((setting) => `nats.gateways.${setting}`);
    const set = ['--set', ['region=eu', 'nats.gateways.enabled=true', ...gateways].join(',')];
    const workload = render(...set, '--show-only', 'templates/nats/statefulset-gateway.yaml');
    return /checksum\/config: (\w+)/.exec(workload)?.[1];
  };
  const added = 'remotes[0].name=us,nats.gateways.remotes[0].urls[0]=nats://us.example.com:7222';
  const advertise = 'advertise=nats.eu.example.com:7222';
  const byCertificate = ['tlsSecret=regions', advertise];
  assert.ok(checksum(...byCertificate));
  assert.equal(checksum(...byCertificate, added), checksum(...byCertificate));
  const first = 'remotes[1].name=ap,nats.gateways.remotes[1].urls[0]=nats://ap.example.com:7222';
  for (const byName of [['tlsSecret=regions'], ['insecure=true'], ['insecure=true', advertise]])
    assert.notEqual(checksum(...byName, added, first), checksum(...byName, added));
});

test('a generated key set is one that signaling takes, and its public part belongs to its private one', () => {
  const objects = render('--show-only', 'templates/secrets/keys.yaml');
  const data = (name: string): KeySet => {
    const [, encoded = ''] = new RegExp(`^  ${name}: (\\S+)$`, 'm').exec(objects) ?? [];
    return JSON.parse(Buffer.from(encoded, 'base64').toString()) as KeySet;
  };
  const [signing, verifying] = [data('keys\\.json'), data('keys-public\\.json')];
  createTokens(signing);
  const { d, ...known } = signing.keys[0] ?? {};
  // Node derives the public key from the private part alone (RFC 8410, 7).
  const der = Buffer.concat([
    Buffer.from('302e020100300506032b657004220420', 'hex'),
    Buffer.from(d ?? '', 'base64url'),
  ]);
  const { x } = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })).export({
    format: 'jwk',
  });
  assert.equal(known.x, x);
  assert.deepEqual(verifying, { active: signing.active, keys: [known] });
});

interface KeySet {
  readonly active: string;
  readonly keys: readonly { readonly x?: string; readonly d?: string }[];
}

test('signaling and the TURN agent know every variable that they are given', (t) => {
  const objects = render(...EVERYTHING).split(/^---\n/m);
  const keys = join(scratch(t), 'keys.json');
  writeFileSync(keys, '{}');
  const ca = join(scratch(t), 'ca.crt');
  writeFileSync(ca, rootCertificates[0] ?? '');
  const given = { PARLEY_KEYS_FILE: keys, PARLEY_NATS_CA: ca };
  const signaling = environmentOf(objects, 'signaling/deployment.yaml', given);
  assert.equal(readConfig(signaling).publicUrl, 'https://parley.example.com');
  assert.deepEqual(readConfig(signaling).nats.replicas, 3);
  const turn = environmentOf(objects, 'turn/daemonset.yaml', {
    PARLEY_TURN_NODE_IP: '10.0.0.1',
    PARLEY_TURN_NATS_CA: ca,
  });
  assert.equal(readSettings(turn).source, 'annotation');
});

test('the relay knows every variable that it is given', () => {
  const source = ['config', 'config/access', 'config/cluster', 'config/flags', 'config/media']
    .map((file) => readFileSync(`services/relay/src/${file}.rs`, 'utf8'))
    .join('');
  const limits = readFileSync('services/relay/README.md', 'utf8');
  const objects = render(...EVERYTHING, '--set', 'relay.limits.pod\\.queuedBytes=2000').split(/^---\n/m);
  const names = Object.keys(environmentOf(objects, 'relay/statefulset.yaml')).filter((name) =>
    name.startsWith('PARLEY_'),
  );
  assert.ok(names.includes('PARLEY_RELAY_LIMIT_POD_QUEUED_BYTES') && limits.includes('`pod.queuedBytes`'));
  const unknown = names.filter((name) => !source.includes(`"${name}"`) && !name.includes('_LIMIT_'));
  assert.deepEqual(unknown, []);
});

test('every metric that is asked for is one that some service exports', () => {
  const exported = exportedNames();
  for (const file of queryFiles()) {
    const missing = queriedNames(readFileSync(file, 'utf8')).filter((name) => !isExported(name, exported));
    assert.deepEqual(missing, [], file);
  }
});

for (const families of ['', 'IPv4', 'IPv6,IPv4'])
  test(`nats-server takes the configuration of every kind of server, with the families "${families}"`, (t) => {
    takesConfigurations(t, ofFamilies(families));
  });

/** As `--set` has a list: empty, where nothing is set. */
const ofFamilies = (families: string): string[] =>
  families === ''
    ? []
    : ['--set', `ipFamilies={${families}}`, '--set', 'networkPolicies.nodes[1].ipBlock.cidr=2001:db8::/32'];

function takesConfigurations(t: TestContext, families: readonly string[]): void {
  const dir = scratch(t);
  const certificate = join(dir, 'tls');
  makeCertificate(certificate);
  copyFileSync(join(certificate, 'tls.crt'), join(certificate, 'ca.crt'));
  for (const [template, workload] of [
    ['configmap', 'statefulset'],
    ['configmap-gateway', 'statefulset-gateway'],
  ] as const) {
    const env = { ...process.env, ...natsVariables(workload) };
    const path = join(dir, `${template}.conf`);
    const objects = render(...EVERYTHING, ...families, '--show-only', `templates/nats/${template}.yaml`);
    writeFileSync(
      path,
      fileOf(objects, 'nats.conf').replaceAll(/\/etc\/(nats\/tls|parley\/nats-tls)/g, certificate),
    );
    const checked = spawnSync(tool('nats-server', 'NATS_VERSION'), ['-c', path, '-t'], {
      encoding: 'utf8',
      env,
    });
    assert.equal(checked.status, 0, checked.stderr);
  }
}

for (const [families, hosts] of [
  ['', ['127.0.0.1']],
  ['IPv6,IPv4', ['[::1]', '127.0.0.1']],
] as const)
  test(`Envoy runs with the configuration of the families "${families}", becomes ready, and exports the metrics that dashboards query`, (t) =>
    runsEnvoy(t, ofFamilies(families), hosts));

async function runsEnvoy(
  t: TestContext,
  families: readonly string[],
  hosts: readonly string[],
): Promise<void> {
  const dir = scratch(t);
  const objects = render(...EVERYTHING, ...families, '--show-only', 'templates/edge/configmap.yaml');
  const ports = new Map([8080, 8443, 9901, 9902].map((port) => [String(port), String(port + 12_000)]));
  const moved = (text: string): string =>
    text
      .replaceAll('/etc/envoy', dir)
      .replaceAll(
        /(address: '?(?:0\.0\.0\.0|127\.0\.0\.1|::)'?, port_value: )(\d+)/g,
        (_all, before: string, port: string) => {
          return `${before.replace('0.0.0.0', '127.0.0.1')}${ports.get(port) ?? port}`;
        },
      );
  for (const name of ['envoy.yaml', 'certificate.yaml', 'log-budget.yaml'])
    writeFileSync(join(dir, name), moved(fileOf(objects, name)));
  makeCertificate(join(dir, 'tls'));
  const args = [
    '-c',
    join(dir, 'envoy.yaml'),
    '--disable-hot-restart',
    '--log-level',
    'error',
    '--concurrency',
    '1',
  ];
  const envoy = spawn(
    tool('envoy', 'ENVOY_VERSION'),
    [...args, '--service-node', 'test', '--service-cluster', 'test'],
    { stdio: 'ignore' },
  );
  const exited = once(envoy, 'exit');
  t.after(async () => {
    envoy.kill('SIGKILL');
    await exited;
  });
  const operations = `http://127.0.0.1:${ports.get('9902')}`;
  for (const host of hosts)
    await until(async () => (await fetch(`http://${host}:${ports.get('9902')}/ready`)).status === 200);
  assert.equal((await fetch(`${operations}/quitquitquit`, { method: 'POST' })).status, 404);
  const page = await (await fetch(`${operations}/stats/prometheus`)).text();
  const text = queryFiles()
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const asked = [...new Set([...text.matchAll(/\b(envoy_[a-z0-9_]+)\b\{/g)].map(([, name = '']) => name))];
  assert.ok(asked.length > 5);
  assert.deepEqual(
    asked.filter((name) => !page.includes(`# TYPE ${name} `)),
    [],
  );
}

/** The literal variables of a workload; those from Secrets and fields get some value, as Kubernetes would give them. */
function environmentOf(objects: readonly string[], template: string, given: Record<string, string> = {}) {
  const workload = objects.find((object) => object.includes(`/templates/${template}`)) ?? '';
  const literal = [...workload.matchAll(/- \{ name: (\w+), value: ['"]?(.*?)['"]? \}$/gm)];
  const looked = [...workload.matchAll(/- name: (\w+)\n\s+value(?:From)?:/g)];
  return {
    ...Object.fromEntries(looked.map(([, name = '']) => [name, 'x'.repeat(20)])),
    ...Object.fromEntries(literal.map(([, name = '', value = '']) => [name, value.replaceAll('\\"', '"')])),
    ...given,
  } as Record<string, string>;
}

/** The variables that the chart gives a server, and no others: one that the configuration names beside these is refused. */
function natsVariables(workload: string): Record<string, string> {
  const objects = render(...EVERYTHING).split(/^---\n/m);
  const names = Object.keys(environmentOf(objects, `nats/${workload}.yaml`));
  return Object.fromEntries(names.map((name) => [name, natsValue(name)]));
}

function natsValue(name: string): string {
  const at = /_(ROUTE|LEAF)_(\d+)$/.exec(name)?.[2];
  if (at !== undefined) return `"nats://user:p1@host-${at}.example.com:6222"`;
  return name.endsWith('_PASSWORD') ? 'p1' : 'eu-0';
}

function makeCertificate(dir: string): void {
  mkdirSync(dir);
  const kind = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test'.split(
    ' ',
  );
  const made = spawnSync('openssl', [...kind, '-keyout', join(dir, 'tls.key'), '-out', join(dir, 'tls.crt')]);
  assert.equal(made.status, 0);
}

function scratch(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'parley-chart-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A cold Envoy needs a second here; a busy machine gets ten times that. */
const STARTS_WITHIN_MS = 10_000;

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + STARTS_WITHIN_MS;
  while (!(await holds().catch(() => false))) {
    if (Date.now() > deadline) throw new Error('it did not come to pass');
    await pause(100);
  }
}
