import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { fillTemplate } from '@parley/turn/template';
import { relayNames, type NatsPasswords, type RelayName } from './secrets.ts';
import { answersOk, localhost, readChartFile, type Site } from './site.ts';
import type { ProcessSpec } from './supervise.ts';

export function natsUrl({ ports }: Site): string {
  return `nats://${localhost}:${ports.nats}`;
}

const variable = (name: RelayName): string => name.toUpperCase().replaceAll('-', '_');

/** One NATS server with JetStream: where it listens, and where it keeps what is stored. */
export interface NatsServer {
  /** Unique in all regions. */
  readonly name: string;
  readonly region: string;
  readonly listen: string;
  readonly monitor: string;
  readonly storeDir: string;
}

/** The configuration of a server, as the chart's. It reads the passwords from its environment: `natsPasswordVariables`. */
export function natsConfig({ name, region, listen, monitor, storeDir }: NatsServer): string {
  return fillTemplate(readChartFile('nats.conf'), {
    SERVER_NAME: name,
    LISTEN: listen,
    MONITOR: monitor,
    STORE_DIR: storeDir,
    DOMAIN: region,
    MAX_MEMORY: '64MB',
    MAX_FILE: '1GB',
    RELAYS: relayNames.map((relay) => relayUser(relay, region)).join(''),
  });
}

export function natsPasswordVariables(passwords: NatsPasswords): Record<string, string> {
  return {
    PARLEY_NATS_SIGNALING_PASSWORD: passwords.signaling,
    ...Object.fromEntries(
      relayNames.map((name) => [`PARLEY_NATS_${variable(name)}_PASSWORD`, passwords[name]]),
    ),
    PARLEY_NATS_TURN_PASSWORD: passwords.turn,
  };
}

/** The user of one relay. MARK: the prefix of its one-use codes, STR-117. */
function relayUser(name: RelayName, region: string): string {
  const mark = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return fillTemplate(readChartFile('nats-relay.conf'), {
    NAME: name,
    VARIABLE: variable(name),
    REGION: region,
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
    env: natsPasswordVariables(secrets.natsPasswords),
    files: [
      {
        path: config,
        content: natsConfig({
          name: 'local-0',
          region: 'local',
          listen: `${localhost}:${ports.nats}`,
          monitor: `${localhost}:${ports.natsMonitor}`,
          storeDir: join(dir, 'nats'),
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
