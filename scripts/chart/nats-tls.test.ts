/** Real NATS servers with the configuration and the certificate that the chart makes, started as it starts them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import type { NatsConnection } from '@nats-io/transport-node';
import { connectNats } from '../../services/signaling/src/adapters/nats-connection.ts';
import { eventually, within } from '../../services/signaling/test/support/deadline.ts';
import { freePort } from '../../infra/local/src/free-port.ts';
import { CHART, fileOf, render, tool } from './tools.ts';

type Ports = Readonly<Record<'client' | 'cluster' | 'gateway' | 'leaf' | 'monitor', number>>;

interface Server {
  readonly ports: Ports;
  readonly log: () => string;
  readonly kill: () => Promise<void>;
  readonly start: () => void;
  /** Lame duck mode, as its pod's preStop begins it. */
  readonly leave: () => void;
}

const GATEWAYS = [
  '--set',
  'region=eu,nats.gateways.enabled=true,nats.gateways.insecure=true,nats.gateways.advertise=127.0.0.1:7222',
];
/** Servers elect, link and read files on a machine that others work on too. */
const WITHIN_MS = 30_000;

const dir = mkdtempSync(join(tmpdir(), 'parley-nats-tls-'));
const certificates = join(dir, 'tls');
let world: Record<'one' | 'two' | 'gateway', Server>;

before(async () => {
  mkdirSync(certificates);
  writeCertificates();
  const [a, b, c] = [await freePorts(), await freePorts(), await freePorts()];
  const route = ({ cluster }: Ports): string => `"tls://cluster:p1@127.0.0.1:${cluster}"`;
  const leaf = `"tls://gateway:p1@127.0.0.1:${c.leaf}"`;
  const to = { ROUTE_0: route(a), ROUTE_1: route(b), ROUTE_2: route(b), LEAF_0: leaf, LEAF_1: leaf };
  world = {
    one: server('one', 'configmap', a, to),
    two: server('two', 'configmap', b, to),
    gateway: server('gateway', 'configmap-gateway', c, { ROUTE_0: route(c), ROUTE_1: route(c) }),
  };
  for (const { start } of Object.values(world)) start();
});

after(async () => {
  for (const { kill } of Object.values(world)) await kill();
  rmSync(dir, { recursive: true, force: true });
});

describe('NATS servers of a region', () => {
  test('[BUS-12] clients verify them, and a message to one is delivered at the other', async (t) => {
    const [here, there] = [await enter(t, world.one), await enter(t, world.two)];
    await crosses(t, here, there);
  });

  test('[BUS-12] gateway servers take them', () => linked());

  test('[BUS-12] a server without the certificate is let in neither by route nor as a leaf', async () => {
    for (const port of [world.one.ports.cluster, world.gateway.ports.cluster, world.gateway.ports.leaf]) {
      const stranger = connectTls({
        port,
        host: '127.0.0.1',
        ca: readFileSync(join(certificates, 'ca.crt')),
      });
      const [error] = (await once(stranger.resume(), 'error')) as [NodeJS.ErrnoException];
      assert.match(String(error.code), /CERTIFICATE_REQUIRED/);
    }
  });

  test('[BUS-13] replaced files are read: old connections live, new ones see the new certificate', async (t) => {
    const old = await enter(t, world.one);
    const changes: string[] = [];
    void (async () => {
      for await (const status of old.status()) changes.push(status.type);
    })();
    const earlier = await shown(world.one);
    writeCertificates();
    for (const [name, { log }] of Object.entries(world))
      await eventually(`${name} read them`, () => log().includes('Reloaded server configuration'), WITHIN_MS);
    assert.notEqual(await shown(world.one), earlier);
    // Routes and leaf connections too: a restarted server has no other certificate than this one.
    await world.two.kill();
    world.two.start();
    await crosses(t, old, await enter(t, world.two));
    await linked();
    assert.ok(!changes.includes('disconnect'));
  });

  test('[BUS-13] files that are no certificate change nothing', async (t) => {
    const { log } = world.one;
    const [earlier, logged] = [await shown(world.one), log().length];
    writeFileSync(join(certificates, 'tls.crt'), 'none');
    const isSaid = (): boolean => log().slice(logged).includes('Failed to reload');
    await eventually('it says so', isSaid, WITHIN_MS);
    assert.equal(await shown(world.one), earlier);
    await enter(t, world.one);
  });

  test('[BUS-7] a server in lame duck mode informs its clients, and servers send clients no addresses', async (t) => {
    const connection = await enter(t, world.one, world.two);
    const from = connection.getServer();
    const leaving = [world.one, world.two].find(({ ports }) => from.endsWith(`:${ports.client}`));
    leaving?.leave();
    await eventually('the other one', () => connection.getServer() !== from, WITHIN_MS);
    await connection.flush();
  });
});

/** The parts of the Secret, which the chart generates at each render; each file at once. */
function writeCertificates(): void {
  const secret = render('--show-only', 'templates/secrets/nats-tls.yaml');
  for (const [, name = '', data = ''] of secret.matchAll(/^ {2}((?:ca|tls)\.(?:crt|key)): (\S+)$/gm)) {
    writeFileSync(join(dir, name), Buffer.from(data, 'base64'));
    renameSync(join(dir, name), join(certificates, name));
  }
}

function server(name: string, template: string, ports: Ports, variables: Record<string, string>): Server {
  const data = join(dir, name);
  mkdirSync(data);
  const config = join(data, 'nats.conf');
  const rendered = fileOf(render(...GATEWAYS, '--show-only', `templates/nats/${template}.yaml`), 'nats.conf');
  writeFileSync(config, placed(rendered, data, ports));
  const given = Object.entries(variables).map(([key, value]) => [`PARLEY_NATS_${key}`, value]);
  const asked = [...rendered.matchAll(/\$(PARLEY_NATS_\w+)/g)].map(([, key = '']) => [key, 'p1']);
  const env = {
    ...Object.fromEntries(asked),
    ...Object.fromEntries(given),
    PARLEY_NATS_SERVER_NAME: name,
    PARLEY_NATS_CERTIFICATES_EVERY: '0.2',
    PATH: [dirname(tool('nats-server', 'NATS_VERSION')), process.env['PATH']].join(delimiter),
  };
  let log = '';
  let end = (): Promise<unknown> => Promise.resolve();
  let leave = (): unknown => undefined;
  return {
    ports,
    log: () => log,
    leave: () => void leave(),
    kill: async () => void (await end()),
    start() {
      const command = [`${CHART}/files/nats-run.sh`, certificates, '--config', config];
      const child = spawn('sh', command, { env, stdio: ['ignore', 'ignore', 'pipe'] });
      child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
      const exited = once(child, 'exit');
      end = () => (child.kill('SIGKILL'), exited);
      leave = () => child.kill('SIGUSR2');
    },
  };
}

/** The configuration with paths and ports of this machine. */
function placed(config: string, data: string, ports: Ports): string {
  const names = { 4222: 'client', 6222: 'cluster', 7222: 'gateway', 7422: 'leaf', 8222: 'monitor' } as const;
  return Object.entries(names)
    .reduce(
      (text, [port, name]) => text.replace(RegExp(`[\\d.]+:${port}`), `127.0.0.1:${ports[name]}`),
      config,
    )
    .replaceAll('/etc/parley/nats-tls', certificates)
    .replace('/data', data)
    .replace('/run/nats', data);
}

async function freePorts(): Promise<Ports> {
  return {
    client: await freePort(),
    cluster: await freePort(),
    gateway: await freePort(),
    leaf: await freePort(),
    monitor: await freePort(),
  };
}

async function enter(t: TestContext, ...to: Server[]): Promise<NatsConnection> {
  const connection = await within(
    'the connection',
    connectNats({
      servers: to.map(({ ports }) => `tls://127.0.0.1:${ports.client}`),
      user: 'signaling',
      password: 'p1',
      ca: join(certificates, 'ca.crt'),
      name: 'signaling',
    }),
    WITHIN_MS,
  );
  t.after(() => connection.close());
  return connection;
}

/** Asserts that the second receives a message of the first, once the subscription has reached its server. */
async function crosses(t: TestContext, from: NatsConnection, to: NatsConnection): Promise<void> {
  const received = new Promise<void>((resolve) => {
    to.subscribe('parley.v1.x', { callback: () => resolve() });
  });
  const saying = setInterval(() => from.publish('parley.v1.x', 'hello'), 50);
  t.after(() => clearInterval(saying));
  await within('the message', received, WITHIN_MS);
}

/** Waits until both servers are leaves of the gateway server. */
async function linked(): Promise<void> {
  const leaves = async (): Promise<boolean> => {
    const answer = await fetch(`http://127.0.0.1:${world.gateway.ports.monitor}/leafz`);
    const { leafs } = (await answer.json()) as { leafs?: { name: string }[] };
    return new Set(leafs?.map(({ name }) => name)).size === 2;
  };
  await eventually('two leaf connections', () => leaves().catch(() => false), WITHIN_MS);
}

/** The certificate that a client sees. */
async function shown({ ports }: Server): Promise<string> {
  const socket = connectTls({ port: ports.client, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}
