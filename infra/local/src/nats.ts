import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fillTemplate } from '@parley/turn/template';
import { relayNames, type RelayName } from './secrets.ts';
import { answersOk, localhost, readChartFile, type Site } from './site.ts';
import type { ProcessSpec } from './supervise.ts';

export function natsUrl({ ports }: Site): string {
  return `nats://${localhost}:${ports.nats}`;
}

const variable = (name: RelayName): string => name.toUpperCase().replaceAll('-', '_');

/** The user of one relay. MARK: the prefix of its one-use codes, STR-117. */
function relayUser(name: RelayName): string {
  const mark = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return fillTemplate(readChartFile('nats-relay.conf'), {
    NAME: name,
    VARIABLE: variable(name),
    REGION: 'local',
    MARK: mark,
  });
}

/** One NATS server with JetStream; its data stays in `<dir>/nats` between runs. */
export function natsSpec(site: Site): ProcessSpec {
  const { dir, ports, secrets, tools } = site;
  const config = join(dir, 'conf/nats.conf');
  return {
    name: 'nats',
    command: tools.natsServer,
    args: ['-c', config],
    env: {
      PARLEY_NATS_SIGNALING_PASSWORD: secrets.natsPasswords.signaling,
      ...Object.fromEntries(
        relayNames.map((name) => [`PARLEY_NATS_${variable(name)}_PASSWORD`, secrets.natsPasswords[name]]),
      ),
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
          RELAYS: relayNames.map(relayUser).join(''),
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
