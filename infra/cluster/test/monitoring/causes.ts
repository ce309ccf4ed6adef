/** What makes alerts fire in the lab, and how each cause ends. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { until } from '@parley/e2e/support/until.ts';
import { newRoom } from '@parley/e2e/support/visitor.ts';
import { Client } from '../../../../services/signaling/test/support/client.ts';
import { restLogin, TurnClient } from '../../../../services/turn/test/turn-client.ts';
import { addRules, signalPod } from '../../src/faults.ts';
import { kubectl } from '../../src/kubectl.ts';
import { forwardPort } from '../../src/port-forward.ts';
import { host, namespace, podsOf, type Pod } from '../../src/release.ts';
import { entries, lab, type Entry } from '../lab/entry.ts';
import type { Cause } from './cause.ts';
import { leaveNats, natsCauses, restoreNats } from './nats-causes.ts';
import type { Site } from './site.ts';

/** The alerts that nothing here causes, and where they are. charts/parley/tests/alerts has their cases. */
export const alertsNotCaused = new Map<string, string>([
  ['ParleyRegionCutOff', 'another region: infra/regions/test/more/alerts.test.ts'],
]);

const TURN_PORT = 3478;
const SIGNALING_PORT = 8101;
/** More than five sixths of `edge.connections.max` in monitoring-values.yaml. */
const EDGE_CONNECTIONS = 260;
/** Longer than a second, and shorter than the silence after which a pod is alone, or a probe fails. */
const STOPPED_MS = 1500;
const RUNS_MS = 200;
const ARRIVING_AT_ONCE = 20;
/** More than 100 a second over five minutes. */
const DROPPED_MESSAGES = 33_000;
const DROPPED_WITHIN_MS = 60_000;

export const causes: readonly Cause[] = [
  {
    name: 'poor calls by TURN, and 500 messages to a participant that left',
    alerts: ['ParleyPoorCalls', 'ParleyUndelivered'],
    overMinutes: ['ParleyUndelivered'],
    async begin({ served: { endpoints } }) {
      const [pod = ''] = endpoints.pods;
      await sendToGone(pod, 500);
      await report(pod, 24, { roundTripMs: 900, lossPermille: 250 });
      return () => report(pod, 120, { roundTripMs: 40, lossPermille: 0 });
    },
  },
  {
    name: 'a signaling pod that runs for a fifth of a second at a time, while people arrive',
    alerts: ['ParleySlowWelcome'],
    overMinutes: ['ParleySlowWelcome'],
    begin: slowWelcomes,
  },
  {
    name: 'readers of a topic that do not read',
    alerts: ['ParleySlowReaders'],
    overMinutes: ['ParleySlowReaders'],
    begin: floodSlowReaders,
  },
  {
    name: 'no NATS server',
    // TURN nodes stay known while nothing is heard of any.
    alerts: ['ParleySignalingAlone', 'ParleyRelayWithoutNats', 'ParleyEdgeWithoutPods'],
    async begin() {
      await leaveNats(0);
      return restoreNats;
    },
  },
  {
    name: 'coturn hangs on both nodes',
    alerts: ['ParleyTurnSilent', 'ParleyTurnUnknown'],
    async begin() {
      const pods = await podsOf(lab, 'turn');
      await signalCoturn(pods, 'STOP');
      return () => signalCoturn(pods, 'CONT');
    },
  },
  {
    name: 'a TURN node whose ports are nearly all in use',
    alerts: ['ParleyTurnFull'],
    begin: fillTurn,
  },
  {
    name: 'two relays whose network is cut between them',
    alerts: ['ParleyRelayLinks', 'ParleyMediaLinks'],
    async begin() {
      const [one, other] = await podsOf(lab, 'relay');
      assert.ok(one && other);
      const [here, there] = [one.status.podIP, other.status.podIP];
      const both = [`--source ${here} --destination ${there}`, `--source ${there} --destination ${here}`];
      // Inserted in front of each other: TCP connections break at once.
      const ends = ['--jump DROP', '--protocol tcp --jump REJECT --reject-with tcp-reset'];
      return addRules(
        one,
        both.flatMap((way) => ends.map((end) => `${way} ${end}`.split(' '))),
      );
    },
  },
  {
    name: 'an Envoy with nine tenths of its connections',
    alerts: ['ParleyEdgeFull'],
    begin: fillEdge,
  },
  ...natsCauses,
];

/** Reports of voices by TURN, as their participants send them. A socket may send two a minute. */
async function report(
  pod: string,
  count: number,
  heard: { roundTripMs: number; lossPermille: number },
): Promise<void> {
  const room = newRoom();
  const message = { type: 'quality', path: 'turn', bufferMs: 60, freezes: 0, reconnects: 0, ...heard };
  for (let sent = 0; sent < count; sent += 2) {
    const client = await Client.enter(pod, room);
    client.sendMessage(message);
    client.sendMessage(message);
    client.leave();
    await client.waitForClose();
  }
}

async function sendToGone(pod: string, count: number): Promise<void> {
  const room = newRoom();
  const gone = await Client.enter(pod, room);
  gone.leave();
  await gone.waitForClose();
  const atOnce = 250;
  for (let sent = 0; sent < count; sent += atOnce) {
    const client = await Client.enter(pod, room);
    for (let nth = 0; nth < atOnce; nth += 1) client.send(gone, `m-${nth}`, 'are you there?');
    client.leave();
    await client.waitForClose();
  }
}

/** Of those who arrive, far more than one in a hundred wait for a pod that is stopped. */
async function slowWelcomes(): Promise<() => Promise<void>> {
  const [pod] = await podsOf(lab, 'signaling');
  assert.ok(pod);
  const forward = await forwardPort(lab, pod, SIGNALING_PORT);
  const over = new AbortController();
  const repeat = async (turn: () => Promise<void>): Promise<void> => {
    while (!over.signal.aborted) await turn();
  };
  const stop = async (): Promise<void> => {
    await signalPod(lab, pod, 'SIGSTOP');
    await pause(STOPPED_MS);
    await signalPod(lab, pod, 'SIGCONT');
    await pause(RUNS_MS);
  };
  const arrive = async (): Promise<void> => {
    const client = await Client.enter(`http://${forward.address}`, newRoom());
    client.leave();
    await client.waitForClose();
  };
  const arrivals = Array.from({ length: ARRIVING_AT_ONCE }, () => repeat(arrive));
  const all = Promise.all([repeat(stop), ...arrivals]);
  // It is awaited later.
  all.catch(() => undefined);
  return async () => {
    over.abort();
    await all.finally(() => forward.close());
  };
}

/** Readers that stop reading, until more messages are dropped for them than 100 a second over five minutes. */
async function floodSlowReaders({ prometheus }: Site): Promise<() => Promise<void>> {
  const [entry] = await entries();
  assert.ok(entry);
  const url = `wss://${host}/streams/slow-${newRoom()}`;
  const readers = await Promise.all(Array.from({ length: 16 }, () => openSocket(entry, url)));
  for (const reader of readers) reader.pause();
  const writer = await openSocket(entry, url);
  const message = Buffer.alloc(10_000);
  const dropped = 'sum(parley_relay_dropped_messages_total)';
  const before = Number((await prometheus.query(dropped))[0]?.value[1]);
  await until(
    async () => {
      for (let nth = 0; nth < 500; nth += 1) writer.send(message);
      await new Promise((resolve) => writer.send(message, resolve));
      return (await prometheus.query(`${dropped} > ${before + DROPPED_MESSAGES}`)).length > 0;
    },
    { withinMs: DROPPED_WITHIN_MS, everyMs: 100, what: () => `${DROPPED_MESSAGES} messages to be dropped` },
  );
  return async () => {
    for (const socket of [writer, ...readers]) socket.terminate();
  };
}

async function openSocket(entry: Entry, url: string): Promise<WebSocket> {
  const socket = entry.open(url);
  await once(socket, 'open');
  // Its end is not what a test looks at.
  socket.on('error', () => undefined);
  return socket;
}

async function signalCoturn(pods: readonly Pod[], signal: 'STOP' | 'CONT'): Promise<void> {
  const script = `kill -${signal} "$(cat /run/parley/turnserver.pid)"`;
  for (const { metadata } of pods)
    await kubectl(lab, '-n', namespace, 'exec', metadata.name, '--', 'sh', '-c', script);
}

async function fillTurn({ prometheus, turnSecret }: Site): Promise<() => Promise<void>> {
  const [pod] = await podsOf(lab, 'turn');
  assert.ok(pod);
  const ports = Number((await prometheus.query('min(parley_turn_ports)'))[0]?.value[1]);
  const expiresAt = Math.floor(Date.now() / 1000) + 600;
  const clients: TurnClient[] = [];
  while (clients.length < 0.9 * ports) {
    const login = restLogin(turnSecret, `full-${clients.length}`, expiresAt);
    const client = await TurnClient.open({ ip: pod.status.podIP, port: TURN_PORT }, login);
    clients.push(client);
    assert.equal((await client.allocate()).outcome, 'ok');
  }
  return async () => {
    for (const client of clients) await client.close();
  };
}

async function fillEdge(): Promise<() => Promise<void>> {
  const [entry] = await entries();
  assert.ok(entry);
  const sockets: WebSocket[] = [];
  const atOnce = 20;
  while (sockets.length < EDGE_CONNECTIONS) {
    const some = Array.from({ length: atOnce }, () => openSocket(entry, `wss://${host}/streams/full`));
    sockets.push(...(await Promise.all(some)));
  }
  return async () => {
    for (const socket of sockets) socket.terminate();
  };
}
