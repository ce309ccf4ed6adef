/**
 * A TURN node: finds its address, writes coturn's configuration, runs coturn, publishes its lease and health, and ends coturn when calls are over.
 * Signaling offers the node to clients only while coturn answers and the node does not drain.
 */
import { nodeAddresses } from './agent/address.ts';
import { describeNode } from './agent/announcement.ts';
import { startCoturn } from './agent/coturn.ts';
import { createHealth } from './agent/health.ts';
import { holdLease } from './agent/lease.ts';
import { log } from './agent/log.ts';
import { openNats } from './agent/nats.ts';
import { readSettings } from './agent/settings.ts';
import { answersStun } from './probe.ts';

// The lease, Kubernetes and the edge probe every second or two, and the latter two time out after one.
const PROBE_TIMEOUT_MS = 800;

const settings = readSettings(process.env);
const addresses = await nodeAddresses(settings);
const publicAddresses = addresses.map((address) => address.public);
const coturn = startCoturn(settings, addresses);
const answers = async (): Promise<boolean> => {
  const each = addresses.map(({ own }) => answersStun(own, settings.port, PROBE_TIMEOUT_MS));
  return !(await Promise.all(each)).includes(false);
};
const lease =
  settings.nats &&
  holdLease({
    bus: openNats(settings.nats, settings.node),
    describe: describeNode(settings, publicAddresses, coturn),
    works: answers,
  });
const health = createHealth(settings, { coturn, answers, lease });
log('started', { node: settings.node, addresses: publicAddresses, port: settings.port });

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    // A second signal: the operator does not want to wait for the calls.
    if (coturn.isDraining()) return coturn.end();
    log('draining', { signal, allocations: coturn.allocations(), atMostSeconds: settings.drainSeconds });
    void lease?.withdraw();
    return coturn.drain();
  });

const code = await coturn.ended;
await lease?.withdraw();
await lease?.close();
health.close();
log('ended', { code });
process.exit(coturn.isDraining() ? 0 : 1);
