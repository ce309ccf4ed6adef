import { webOrigins } from './endpoints.ts';
import { answersOk, localhost, settingsLike, type Site } from './site.ts';
import type { ProcessSpec } from './supervise.ts';

// What a developer sets for `make up` and the relays take as it is.
const passedOn = /^PARLEY_RELAY_.+$/;

/** Two relays from the start: nothing may work only because everybody is on the same one. */
export function relaySpecs(site: Site): ProcessSpec[] {
  return [relaySpec(site, 'relay-1', 'relay1'), relaySpec(site, 'relay-2', 'relay2')];
}

function relaySpec(site: Site, name: string, portName: 'relay1' | 'relay2'): ProcessSpec {
  const { ports, tools } = site;
  const port = ports[portName];
  const url = `http://${localhost}:${port}`;
  return {
    name,
    command: tools.relay,
    args: [],
    env: {
      PARLEY_RELAY_ORIGINS: webOrigins(site).join(','),
      ...settingsLike(passedOn, site),
      PARLEY_RELAY_LISTEN: `${localhost}:${port}`,
      PARLEY_RELAY_TRUSTED_PROXIES: '1',
    },
    files: [],
    ports: [{ name: portName, host: localhost, port, protocol: 'tcp' }],
    url,
    ready: () => answersOk(`${url}/readyz`),
  };
}
