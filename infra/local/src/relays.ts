import { join } from 'node:path';
import { mediaUrl, webOrigins } from './endpoints.ts';
import { natsUrl } from './nats.ts';
import type { RelayName } from './secrets.ts';
import { answersOk, inUrl, localhost, settingsLike, type Site } from './site.ts';
import type { ProcessSpec } from './supervise.ts';

// Settings of a developer for `make up` that are passed to the relays unchanged.
const passedOn = /^PARLEY_RELAY_.+$/;

/** Two relays from the start: nothing may work only because all clients are on one relay. */
export function relaySpecs(site: Site): ProcessSpec[] {
  return [relaySpec(site, 'relay-1', 'relay1'), relaySpec(site, 'relay-2', 'relay2')];
}

function relaySpec(site: Site, name: RelayName, portName: 'relay1' | 'relay2'): ProcessSpec {
  const { dir, ports, secrets, tools, mediaIp } = site;
  const port = ports[portName];
  const linkName = `${portName}Link` as const;
  const linkPort = ports[linkName];
  const mediaName = `${portName}Media` as const;
  const socketName = `${portName}MediaSocket` as const;
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
      PARLEY_RELAY_POD: name,
      PARLEY_RELAY_REGION: 'local',
      PARLEY_RELAY_NATS: natsUrl(site),
      PARLEY_RELAY_NATS_USER: name,
      PARLEY_RELAY_NATS_PASSWORD: secrets.natsPasswords[name],
      PARLEY_RELAY_LINK_LISTEN: `${localhost}:${linkPort}`,
      PARLEY_RELAY_MEDIA_LISTEN: `${inUrl(mediaIp)}:${ports[mediaName]}`,
      PARLEY_RELAY_MEDIA_URL: mediaUrl(site, mediaName),
      PARLEY_RELAY_MEDIA_HOSTS: mediaIp,
      PARLEY_RELAY_MEDIA_WEBSOCKET_LISTEN: `${localhost}:${ports[socketName]}`,
      // Streams are open here; media requires the tokens that signaling signs.
      PARLEY_RELAY_MEDIA_KEYS: secrets.publicKeysFile,
      // It is kept, so that a page that pinned a certificate can reconnect after a restart.
      PARLEY_RELAY_MEDIA_CERTIFICATE_DIR: join(dir, 'media', name),
    },
    files: [],
    ports: [
      { name: portName, host: localhost, port, protocol: 'tcp' },
      { name: linkName, host: localhost, port: linkPort, protocol: 'tcp' },
      { name: mediaName, host: mediaIp, port: ports[mediaName], protocol: 'udp' },
      { name: socketName, host: localhost, port: ports[socketName], protocol: 'tcp' },
    ],
    url,
    ready: () => answersOk(`${url}/readyz`),
  };
}
