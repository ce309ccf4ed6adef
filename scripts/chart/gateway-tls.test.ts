/** Gateway servers of two regions with the chart's configuration, started as it starts them, whose certificates are replaced as those of a Secret. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { freePort } from '../../infra/local/src/free-port.ts';
import { eventually } from '../../services/signaling/test/support/deadline.ts';
import { SecretVolume, type Files } from '../../services/signaling/test/support/secret-volume.ts';
import { CHART, fileOf, render, tool } from './tools.ts';

type Name = 'eu' | 'us';

interface Leaf {
  readonly cert: string;
  readonly key: string;
}

interface Region {
  readonly volume: SecretVolume;
  /** Of the gateway itself. */
  readonly port: number;
  readonly log: () => string;
  /** The connections to the other region and from it. */
  readonly connections: () => Promise<readonly number[]>;
  /** Breaks those that come by the advertised address. */
  readonly cut: () => void;
  readonly kill: () => Promise<unknown>;
}

/** Servers read files and connect again on a machine that others work on too. */
const WITHIN_MS = 30_000;
const READ = 'Reloaded server configuration';

const dir = mkdtempSync(join(tmpdir(), 'parley-gateway-tls-'));
const remains: (() => Promise<unknown>)[] = [];
let regions: Record<Name, Region>;
let leaves: Record<'eu' | 'us' | 'euRenewed' | 'euOfNewCa', Leaf>;

before(async () => {
  for (const ca of ['eu', 'us', 'eu-new']) makeCa(ca);
  leaves = { eu: leafOf('eu'), us: leafOf('us'), euRenewed: leafOf('eu'), euOfNewCa: leafOf('eu-new') };
  const eu = await startRegion('eu', [], leaves.eu);
  regions = {
    eu: eu.region,
    us: (await startRegion('us', [`{ name: eu, urls: ["${eu.url}"] }`], leaves.us)).region,
  };
  await linked();
});

after(async () => {
  for (const end of remains) await end();
  rmSync(dir, { recursive: true, force: true });
});

test('[BUS-15] a renewed certificate and a replaced CA are used without a restart, and no connection between regions ends', async () => {
  const { eu, us } = regions;
  const atFirst = await connections();
  await replace('eu', leaves.euRenewed, ['eu', 'us']);
  assert.equal(await shown(eu), fingerprint(leaves.euRenewed));

  await Promise.all([
    replace('eu', leaves.euRenewed, ['eu', 'us', 'eu-new']),
    replace('us', leaves.us, ['eu', 'us', 'eu-new']),
  ]);
  await replace('eu', leaves.euOfNewCa, ['eu', 'us', 'eu-new']);
  assert.equal(await shown(eu), fingerprint(leaves.euOfNewCa));
  for (const leaf of [leaves.eu, leaves.euOfNewCa]) assert.ok(await isLetIn(us, leaf));

  await Promise.all([
    replace('eu', leaves.euOfNewCa, ['us', 'eu-new']),
    replace('us', leaves.us, ['us', 'eu-new']),
  ]);
  assert.ok(await isLetIn(us, leaves.euOfNewCa));
  assert.ok(!(await isLetIn(us, leaves.eu)), 'the CA of before is taken out');
  assert.deepEqual(await connections(), atFirst);

  // A connection that is dialled later has the new certificates, also where a region learnt of the other one by its connection.
  for (const { cut } of [eu, us]) cut();
  await eventually(
    'other connections',
    async () => {
      const now = await connections();
      return now.length === atFirst.length && now.every((one) => !atFirst.includes(one));
    },
    WITHIN_MS,
  );
});

test('[BUS-15] a certificate without its key changes nothing, and the next one is used', async () => {
  const { eu } = regions;
  const logged = eu.log().length;
  eu.volume.replace({ ...filesOf(leaves.eu, ['us', 'eu-new']), 'tls.key': leaves.us.key });
  await eventually('it is logged', () => eu.log().slice(logged).includes('Failed to reload'), WITHIN_MS);
  assert.equal(await shown(eu), fingerprint(leaves.euOfNewCa));
  await replace('eu', leafOf('eu-new'), ['us', 'eu-new']);
  assert.notEqual(await shown(eu), fingerprint(leaves.euOfNewCa));
});

/** As an operator changes the Secret; resolves when the server has read the files. */
async function replace(name: Name, leaf: Leaf, trusted: readonly string[]): Promise<void> {
  const { volume, log } = regions[name];
  const logged = log().length;
  volume.replace(filesOf(leaf, trusted));
  await eventually(`${name} read them`, () => log().slice(logged).includes(READ), WITHIN_MS);
}

const filesOf = ({ cert, key }: Leaf, trusted: readonly string[]): Files => ({
  'tls.crt': cert,
  'tls.key': key,
  'ca.crt': trusted.map((ca) => readFileSync(join(dir, `${ca}.crt`), 'utf8')).join(''),
});

async function startRegion(
  name: Name,
  remotes: readonly string[],
  leaf: Leaf,
): Promise<{ region: Region; url: string }> {
  const [port, monitor, client, leafPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const way = await openWay(port);
  const volume = new SecretVolume(filesOf(leaf, ['eu', 'us']));
  const config = join(dir, `${name}.conf`);
  const flags = `region=${name},nats.tls.enabled=false,nats.gateways.enabled=true,nats.gateways.tlsSecret=regions,nats.gateways.replicas=1,nats.gateways.advertise=127.0.0.1:${way.port}`;
  const rendered = fileOf(
    render('--set', flags, '--show-only', 'templates/nats/configmap-gateway.yaml'),
    'nats.conf',
  );
  const listeners = { 4222: client, 7222: port, 7422: leafPort, 8222: monitor };
  const placed = Object.entries(listeners).reduce(
    (text, [from, to]) => text.replace(RegExp(`[\\d.]+:${from}`), `127.0.0.1:${to}`),
    rendered,
  );
  const withRemotes = placed.replace(/gateways: \[\s*\]/, `gateways: [${remotes.join()}]`);
  writeFileSync(
    config,
    withRemotes.replaceAll('/etc/nats/tls', volume.directory).replace('/run/nats', join(dir, name)),
  );
  mkdirSync(join(dir, name));
  const { log, kill } = startServer(name, volume.directory, config);
  remains.push(kill, way.close, async () => volume.remove());
  const region = { volume, port, log, kill, cut: way.cut, connections: () => connectionsOf(monitor) };
  return { region, url: `nats://127.0.0.1:${way.port}` };
}

function startServer(name: Name, certificates: string, config: string): Pick<Region, 'log' | 'kill'> {
  const env = {
    PARLEY_NATS_SERVER_NAME: name,
    PARLEY_NATS_GATEWAY_PASSWORD: 'p1',
    PARLEY_NATS_CERTIFICATES_EVERY: '0.2',
    PATH: [dirname(tool('nats-server', 'NATS_VERSION')), process.env['PATH']].join(delimiter),
  };
  const command = [`${CHART}/files/nats-run.sh`, certificates, '--config', config];
  const child = spawn('sh', command, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const exited = once(child, 'exit');
  return { log: () => log, kill: () => (child.kill('SIGKILL'), exited) };
}

/** A way to a port that can break all connections at once. */
async function openWay(
  port: number,
): Promise<{ port: number; cut: () => void; close: () => Promise<unknown> }> {
  const open = new Set<Socket>();
  const server = createServer((from) => {
    const to = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      open.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  const close = async (): Promise<void> => {
    server.close();
    cut();
  };
  return { port: (server.address() as AddressInfo).port, cut, close };
}

interface Gateways {
  readonly outbound_gateways?: Readonly<Record<string, { readonly connection: { readonly cid: number } }>>;
  readonly inbound_gateways?: Readonly<
    Record<string, readonly { readonly connection: { readonly cid: number } }[]>
  >;
}

async function connectionsOf(monitor: number): Promise<number[]> {
  const answer = await fetch(`http://127.0.0.1:${monitor}/gatewayz`);
  const { outbound_gateways: out = {}, inbound_gateways: into = {} } = (await answer.json()) as Gateways;
  return [...Object.values(out), ...Object.values(into).flat()].map(({ connection }) => connection.cid);
}

/** Of both servers. */
async function connections(): Promise<string[]> {
  const each = Object.entries(regions).map(async ([name, region]) =>
    (await region.connections()).map((cid) => `${name} ${cid}`),
  );
  return (await Promise.all(each)).flat().toSorted();
}

/** Waits until each has a connection to the other one and from it. */
async function linked(): Promise<void> {
  await eventually('two regions', async () => (await connections().catch(() => [])).length === 4, WITHIN_MS);
}

function dial({ port }: Region, { cert, key }: Leaf): TLSSocket {
  return connectTls({ port, host: '127.0.0.1', cert, key, rejectUnauthorized: false });
}

/** The certificate that other regions see. */
async function shown(region: Region): Promise<string> {
  const socket = dial(region, leaves.us);
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

/** Whether a server with this certificate is greeted. */
async function isLetIn(region: Region, leaf: Leaf): Promise<boolean> {
  const socket = dial(region, leaf);
  const answer = await once(socket, 'data').catch((error: unknown) => error);
  socket.destroy();
  if (!(answer instanceof Error)) return true;
  assert.match(answer.message, /unknown ca|bad certificate/);
  return false;
}

function fingerprint({ cert }: Leaf): string {
  return new X509Certificate(cert).fingerprint256;
}

function openssl(...args: readonly string[]): void {
  const kind = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2'.split(' ');
  const made = spawnSync('openssl', [...kind, ...args], { cwd: dir, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(made.stderr);
}

function makeCa(name: string): void {
  openssl('-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.crt`);
}

function leafOf(ca: string): Leaf {
  const by = ['-CA', `${ca}.crt`, '-CAkey', `${ca}.key`, '-keyout', 'leaf.key', '-out', 'leaf.crt'];
  const about = ['subjectAltName=IP:127.0.0.1', 'basicConstraints=critical,CA:FALSE'];
  openssl('-subj', '/CN=gateway', ...by, ...about.flatMap((extension) => ['-addext', extension]));
  const read = (file: string): string => readFileSync(join(dir, file), 'utf8');
  return { cert: read('leaf.crt'), key: read('leaf.key') };
}
