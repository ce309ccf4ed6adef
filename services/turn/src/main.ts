/**
 * A TURN node: finds its address, writes coturn's configuration, runs coturn, says how it is, and ends it when calls are over. Nobody is
 * sent to it before it answers, and nobody any more from the moment it is to end.
 */
import { publicAddress } from './agent/address.ts';
import { describeNode } from './agent/announcement.ts';
import { startCoturn } from './agent/coturn.ts';
import { createHealth } from './agent/health.ts';
import { holdLease } from './agent/lease.ts';
import { log } from './agent/log.ts';
import { openNats } from './agent/nats.ts';
import { readSettings } from './agent/settings.ts';
import { answersStun } from './probe.ts';

// The lease, Kubernetes and the edge ask every second or two, and the latter two give up after one.
const PROBE_WITHIN_MS = 800;

const settings = readSettings(process.env);
const address = await publicAddress(settings);
const coturn = startCoturn(settings, address);
const answers = (): Promise<boolean> => answersStun(settings.nodeIp, settings.port, PROBE_WITHIN_MS);
const lease =
  settings.nats &&
  holdLease({
    bus: openNats(settings.nats, settings.node),
    describe: describeNode(settings, address, coturn),
    works: answers,
  });
const health = createHealth(settings, { coturn, answers, lease });
log('started', { node: settings.node, address, port: settings.port });

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    // Whoever asks twice does not want to wait for the calls.
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
