/** A TURN node: finds its address, writes coturn's configuration, runs coturn, says how it is, and ends it when calls are over. */
import { publicAddress } from './agent/address.ts';
import { startCoturn } from './agent/coturn.ts';
import { createHealth } from './agent/health.ts';
import { log } from './agent/log.ts';
import { readSettings } from './agent/settings.ts';

const settings = readSettings(process.env);
const address = await publicAddress(settings);
const coturn = startCoturn(settings, address);
const health = createHealth(settings, coturn);
log('started', { node: settings.node, address, port: settings.port });

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    // Whoever asks twice does not want to wait for the calls.
    if (coturn.isDraining()) return coturn.end();
    log('draining', { signal, allocations: coturn.allocations(), atMostSeconds: settings.drainSeconds });
    return coturn.drain();
  });

const code = await coturn.ended;
health.close();
log('ended', { code });
process.exit(coturn.isDraining() ? 0 : 1);
