/** What makes the alerts about NATS fire in the lab, and how each cause ends. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { until } from '@parley/e2e/support/until.ts';
import { newRoom } from '@parley/e2e/support/visitor.ts';
import { allReady, closePorts } from '../../src/faults.ts';
import { kubectl } from '../../src/kubectl.ts';
import { forwardPort, type PortForward } from '../../src/port-forward.ts';
import { namespace, podsOf, readSecret } from '../../src/release.ts';
import { lab } from '../lab/entry.ts';
import type { Cause } from './cause.ts';
import type { Site } from './site.ts';

const NATS_SERVERS = 3;
const CLIENT_PORT = 4222;
const CLUSTER_PORT = 6222;
const USER = 'signaling';
/** As many bytes as a message may have, without its subject. */
const MESSAGE = new Uint8Array(1_000_000);
/** What signaling may publish, and no one reads. */
const FILL = 'parley.v1.lab.fill';
const FLOOD = 'parley.v1.lab.flood';
const STREAM = 'lab-fill';
const STORE_USE = 'max(gnatsd_varz_jetstream_stats_storage / gnatsd_varz_jetstream_config_max_storage)';
/** More than one in ten seconds over five minutes. */
const REFUSED_ROOMS = 60;
const ROOMS_AT_ONCE = 20;
const NO_LEADER_WITHIN_MS = 60_000;
/** The server gives a client five seconds to read; a busy machine moves what fills it more slowly. */
const SLOW_WITHIN_MS = 60_000;
/** Oftener than the server asks. */
const SAYS_IT_LIVES_EVERY_MS = 300;

export const natsCauses: readonly Cause[] = [
  {
    name: 'a NATS server that neither the others nor clients reach',
    alerts: ['ParleyNatsAlone'],
    begin: cutServer,
  },
  {
    name: 'one NATS server of three, while rooms are made',
    alerts: ['ParleyNatsWithoutLeader', 'ParleyRefusals'],
    overMinutes: ['ParleyRefusals'],
    begin: loseMajority,
  },
  {
    name: 'a NATS server that has stored nearly all it may',
    alerts: ['ParleyNatsNearlyFull'],
    begin: fillStore,
  },
  {
    name: 'a client of NATS that does not read',
    alerts: ['ParleyNatsSlowConsumers'],
    overMinutes: ['ParleyNatsSlowConsumers'],
    begin: floodSlowClient,
  },
];

/** Ends all servers but the first ones, without waiting for their drain. */
export async function leaveNats(count: number): Promise<void> {
  const ending = (await podsOf(lab, 'nats')).filter(
    ({ metadata: { name } }) => Number(name.split('-').at(-1)) >= count,
  );
  await scaleNats(count);
  const names = ending.map(({ metadata }) => metadata.name);
  await kubectl(lab, '-n', namespace, 'delete', 'pod', ...names, '--force', '--grace-period=0');
}

export async function restoreNats(): Promise<void> {
  await scaleNats(NATS_SERVERS);
  await allReady(lab);
}

async function scaleNats(replicas: number): Promise<void> {
  await kubectl(lab, '-n', namespace, 'scale', 'statefulset/parley-nats', `--replicas=${replicas}`);
}

/** Its probes and its exporter are reached. */
async function cutServer(): Promise<() => Promise<void>> {
  const [server] = await podsOf(lab, 'nats');
  assert.ok(server);
  return closePorts(server, [CLIENT_PORT, CLUSTER_PORT]);
}

async function loseMajority({ served: { endpoints } }: Site): Promise<() => Promise<void>> {
  await leaveNats(1);
  const codes: string[] = [];
  await until(
    async () => {
      const made = Array.from({ length: ROOMS_AT_ONCE }, (_, nth) =>
        makeRoom(endpoints.pods[nth % endpoints.pods.length] ?? ''),
      );
      codes.push(...(await Promise.all(made)));
      return codes.filter((code) => code === 'STORE_UNAVAILABLE').length >= REFUSED_ROOMS;
    },
    {
      withinMs: NO_LEADER_WITHIN_MS,
      what: () => `${REFUSED_ROOMS} rooms to be refused: ${[...new Set(codes)].join()}`,
    },
  );
  return restoreNats;
}

/** Answers the code of a refusal, or nothing. */
async function makeRoom(pod: string): Promise<string> {
  const response = await fetch(`${pod}/v1/rooms`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: `lab-${newRoom()}` }),
  });
  return response.ok ? '' : ((await response.json()) as { code: string }).code;
}

/** A stream of one copy. */
async function fillStore({ prometheus }: Site): Promise<() => Promise<void>> {
  const client = await openClient();
  const api = (what: string, body: object = {}): Promise<void> =>
    ask(client.nats, `$JS.API.STREAM.${what}.${STREAM}`, JSON.stringify(body));
  await api('CREATE', {
    name: STREAM,
    subjects: [FILL],
    num_replicas: 1,
    storage: 'file',
    retention: 'limits',
    discard: 'new',
  });
  await until(
    async () => {
      const [use] = await prometheus.query(STORE_USE);
      if (Number(use?.value[1]) > 0.8) return true;
      for (let nth = 0; nth < 4; nth += 1) await ask(client.nats, FILL, MESSAGE);
      return false;
    },
    { withinMs: SLOW_WITHIN_MS, everyMs: 2000, what: () => 'a store of which four fifths are used' },
  );
  return async () => {
    await api('DELETE');
    await client.close();
  };
}

/** A client that says it lives and reads nothing, until the server has closed its connection for that. */
async function floodSlowClient({ prometheus }: Site): Promise<() => Promise<void>> {
  const reader = await openDeafReader();
  const writer = await openClient();
  const slow = 'sum(gnatsd_varz_slow_consumers)';
  const before = Number((await prometheus.query(slow))[0]?.value[1]);
  try {
    await until(
      async () => {
        for (let nth = 0; nth < 8; nth += 1) writer.nats.publish(FLOOD, MESSAGE);
        await writer.nats.flush();
        return (await prometheus.query(`${slow} > ${before}`)).length > 0;
      },
      { withinMs: SLOW_WITHIN_MS, everyMs: 500, what: () => 'a client to be cut off' },
    );
  } finally {
    reader.close();
    await writer.close();
  }
  return async () => undefined;
}

interface NatsClient {
  readonly nats: NatsConnection;
  close(): Promise<void>;
}

async function openClient(): Promise<NatsClient> {
  const { forward, port, ca, pass } = await openWay();
  const nats = await connect({
    servers: `tls://localhost:${port}`,
    user: USER,
    pass,
    tls: { ca, handshakeFirst: true },
    reconnect: false,
  });
  return {
    nats,
    async close() {
      await nats.close();
      forward.close();
    },
  };
}

async function openDeafReader(): Promise<{ close(): void }> {
  const { forward, port, ca, pass } = await openWay();
  const socket: TLSSocket = connectTls({ host: 'localhost', port, ca, servername: 'localhost' });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  const hello = { user: USER, pass, verbose: false, pedantic: false, tls_required: true, lang: 'lab' };
  socket.write(`CONNECT ${JSON.stringify(hello)}\r\nSUB ${FLOOD} 1\r\nPING\r\n`);
  let said = '';
  socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await until(() => said.includes('PONG'), { withinMs: SLOW_WITHIN_MS, what: () => `a PONG after ${said}` });
  socket.removeAllListeners('data').pause();
  const timer = setInterval(() => socket.write('PONG\r\n'), SAYS_IT_LIVES_EVERY_MS);
  return {
    close() {
      clearInterval(timer);
      socket.destroy();
      forward.close();
    },
  };
}

/** To the first server, with what its clients have to know. */
async function openWay(): Promise<{ forward: PortForward; port: number; ca: string; pass: string }> {
  const [server] = await podsOf(lab, 'nats');
  assert.ok(server);
  const forward = await forwardPort(lab, server, CLIENT_PORT);
  return {
    forward,
    port: Number(forward.address.split(':').at(-1)),
    ca: await readSecret(lab, 'parley-nats-tls', 'ca.crt'),
    pass: await readSecret(lab, 'parley-nats', USER),
  };
}

/** A request of JetStream; throws what it answers of an error. */
async function ask(nats: NatsConnection, subject: string, body: string | Uint8Array): Promise<void> {
  const answer = (await nats.request(subject, body, { timeout: 10_000 })).json<{ error?: unknown }>();
  if (answer.error !== undefined) throw new Error(`${subject}: ${JSON.stringify(answer.error)}`);
}
