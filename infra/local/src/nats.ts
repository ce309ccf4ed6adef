import { join } from 'node:path';
import { fillTemplate } from '@parley/turn/template';
import { answersOk, localhost, readChartFile, type Site } from './site.ts';
import type { ProcessSpec } from './supervise.ts';

export function natsUrl({ ports }: Site): string {
  return `nats://${localhost}:${ports.nats}`;
}

/** One NATS server with JetStream; what it stores stays in `<dir>/nats` between runs. */
export function natsSpec(site: Site): ProcessSpec {
  const { dir, ports, secrets, tools } = site;
  const config = join(dir, 'conf/nats.conf');
  return {
    name: 'nats',
    command: tools.natsServer,
    args: ['-c', config],
    env: {
      PARLEY_NATS_SIGNALING_PASSWORD: secrets.natsPasswords.signaling,
      PARLEY_NATS_RELAY_PASSWORD: secrets.natsPasswords.relay,
      PARLEY_NATS_TURN_PASSWORD: secrets.natsPasswords.turn,
    },
    files: [
      {
        path: config,
        content: fillTemplate(readChartFile('nats.conf'), {
          SERVER_NAME: 'local-0',
          LISTEN: `${localhost}:${ports.nats}`,
          MONITOR: `${localhost}:${ports.natsMonitor}`,
          STORE_DIR: join(dir, 'nats'),
          DOMAIN: 'local',
          MAX_MEMORY: '64MB',
          MAX_FILE: '1GB',
        }),
      },
    ],
    ports: [
      { name: 'nats', host: localhost, port: ports.nats, protocol: 'tcp' },
      { name: 'natsMonitor', host: localhost, port: ports.natsMonitor, protocol: 'tcp' },
    ],
    url: natsUrl(site),
    ready: () => answersOk(`http://${localhost}:${ports.natsMonitor}/healthz`),
  };
}
