/** The edge of each region and the web application behind it, for browsers. */
import { edgeSpec } from '@parley/local/envoy';
import { findTools } from '@parley/local/tools';
import type { ProcessSpec } from '@parley/local/supervise';
import { webServerSpec } from '@parley/local/web';
import { podNumbers, podUrl } from './pods.ts';
import { relayNumbers, relayUrl, socketAddress } from './relays.ts';
import {
  addressOf,
  EDGE_PORTS,
  edgeUrl,
  entryOf,
  inside,
  regionNames,
  type RegionName,
  type Site,
} from './site.ts';

/** No two processes of a region share a port, and its namespace has no others. */
const PORTS = { ...EDGE_PORTS, admin: 9901 };
const WEB_PORT = 8090;

export function edgeSpecs(site: Site, region: RegionName): ProcessSpec[] {
  return [webSpec(site, region), envoySpec(site, region)];
}

function webSpec(site: Site, region: RegionName): ProcessSpec {
  return webServerSpec({
    name: `${region}-web`,
    into: inside(site, region),
    host: entryOf(site, region).region,
    port: WEB_PORT,
    // In whichever region the page comes to be: the relays' WebTransport, the API, sockets.
    connect: regionNames.flatMap((any) => {
      const edge = edgeUrl(site, any);
      return [`https://${addressOf(any)}:*`, edge, edge.replace(/^http/, 'ws')];
    }),
  });
}

function envoySpec(site: Site, region: RegionName): ProcessSpec {
  const { host } = new URL(podUrl(site, region, 1));
  return edgeSpec({
    name: `${region}-envoy`,
    dir: site.dir,
    command: [...inside(site, region), findTools(process.env).envoy],
    listen: '0.0.0.0',
    host: entryOf(site, region).region,
    ports: PORTS,
    secrets: site.secrets,
    env: site.env,
    signaling: podNumbers.map((number) => new URL(podUrl(site, region, number)).host),
    relays: relayNumbers.map((number) => new URL(relayUrl(site, region, number)).host),
    media: relayNumbers.map((number) => ({
      address: socketAddress(site, region, number),
      healthPort: Number(new URL(relayUrl(site, region, number)).port),
    })),
    web: host.replace(/:\d+$/, `:${WEB_PORT}`),
  });
}
