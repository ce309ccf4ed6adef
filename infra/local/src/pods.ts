import { NODE_OPTIONS } from '@parley/signaling/node-options';
import { stunUrls, turnUrls } from './coturn.ts';
import { natsUrl } from './nats.ts';
import { inRepository } from './repository.ts';
import { answersOk, localhost, settingsLike, type Site } from './site.ts';
import type { ProcessSpec } from './supervise.ts';

// Settings of a developer for `make up` that are passed to the pods unchanged.
const passedOn = /^PARLEY_(LIMIT_.+|LOG_LEVEL|PUBLIC_URL|ALLOWED_ORIGINS|LIVE|TRACES_URL)$/;

/** Two signaling pods from the start: nothing may work only because all clients are on one pod. */
export function podSpecs(site: Site): ProcessSpec[] {
  return [podSpec(site, 'signaling-1', 'pod1'), podSpec(site, 'signaling-2', 'pod2')];
}

function podSpec(site: Site, name: string, portName: 'pod1' | 'pod2'): ProcessSpec {
  const { ports, secrets, tools, mediaIp } = site;
  const port = ports[portName];
  const url = `http://${localhost}:${port}`;
  return {
    name,
    command: tools.node,
    args: [...NODE_OPTIONS, ...nodeOptions(site), inRepository('services/signaling/src/main.ts')],
    env: {
      PARLEY_LIVE: 'open',
      ...settingsLike(passedOn, site),
      PARLEY_POD: name,
      PARLEY_REGION: 'local',
      PARLEY_LISTEN: `${localhost}:${port}`,
      PARLEY_NATS_URL: natsUrl(site),
      PARLEY_NATS_USER: 'signaling',
      PARLEY_NATS_PASSWORD: secrets.natsPasswords.signaling,
      PARLEY_MEDIA_HOSTS: mediaIp,
      PARLEY_KEYS_FILE: secrets.keysFile,
      PARLEY_TURN_SECRET: secrets.turnSecret,
      PARLEY_TURN_URLS: turnUrls(site).join(','),
      PARLEY_STUN_URLS: stunUrls(site).join(','),
      PARLEY_TRUSTED_PROXIES: '1',
    },
    files: [],
    ports: [{ name: portName, host: localhost, port, protocol: 'tcp' }],
    url,
    // Both relays are known: a room stays on one relay from now on.
    ready: async () => {
      await answersOk(`${url}/readyz`);
      await sendsPeopleToRelays(url, 2);
    },
  };
}

/** Settings of a test for Node.js, such as the heap size of a pod in a cluster. */
function nodeOptions({ env }: Site): string[] {
  return (env['PARLEY_POD_NODE_OPTIONS'] ?? '').split(' ').filter((option) => option !== '');
}

async function sendsPeopleToRelays(pod: string, all: number): Promise<void> {
  const response = await fetch(`${pod}/metrics`, { signal: AbortSignal.timeout(2000) });
  const found = /^parley_media_relays (\d+)$/m.exec(await response.text())?.[1];
  if (found !== String(all)) throw new Error(`it sends people to ${found} relays, not to ${all}`);
}
