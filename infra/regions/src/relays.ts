import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RelayName } from '@parley/local/secrets';
import { answersOk, settingsLike } from '@parley/local/site';
import type { ProcessSpec } from '@parley/local/supervise';
import { natsUrls } from './nats.ts';
import {
  addressOf,
  edgeUrl,
  entryOf,
  inside,
  regionNames,
  type Place,
  type RegionName,
  type Site,
} from './site.ts';

/** Two origins a region, without leaves: clients connect to them. */
export const relayNumbers = [1, 2] as const;
export type RelayNumber = (typeof relayNumbers)[number];

const passedOn = /^PARLEY_RELAY_(LIMIT_.+|LOG_LEVEL)$/;
const READY_WITHIN_MS = 60_000;

/** Where this machine reaches the statistics and metrics of a relay. */
export function relayUrl(place: Place, region: RegionName, relay: RelayNumber): string {
  return `http://${entryOf(place, region).region}:${8110 + relay}`;
}

/** Its media over WebSocket, as `host:port`. */
export function socketAddress(place: Place, region: RegionName, relay: RelayNumber): string {
  return `${entryOf(place, region).region}:${8150 + relay}`;
}

export interface MediaAddress {
  /** Without a token. */
  readonly url: string;
  /** SHA-256 of its certificate, base64. */
  readonly hash: string;
}

/** Where all regions reach the media of a relay that runs. */
export function mediaOf(place: Place, region: RegionName, relay: RelayNumber): MediaAddress {
  const pem = readFileSync(join(certificateDir(place, region, relay), 'current/relay.pem'), 'utf8');
  const fingerprint = new X509Certificate(pem).fingerprint256.replaceAll(':', '');
  return {
    url: `https://${mediaListen(region, relay)}/`,
    hash: Buffer.from(fingerprint, 'hex').toString('base64'),
  };
}

export function relaySpecs(site: Site, region: RegionName): ProcessSpec[] {
  return relayNumbers.map((number) => relaySpec(site, region, number));
}

/** Clients and relays of other regions reach its media at one address, which is in the region. */
function relaySpec(site: Site, region: RegionName, number: RelayNumber): ProcessSpec {
  const name = nameOf(region, number);
  const user: RelayName = `relay-${number}`;
  const url = relayUrl(site, region, number);
  const media = mediaListen(region, number);
  const [command, ...args] = [...inside(site, region), site.relay] as const;
  return {
    name,
    command,
    args,
    env: {
      PARLEY_RELAY_THREADS: '1',
      ...settingsLike(passedOn, site),
      PARLEY_RELAY_LISTEN: new URL(url).host,
      PARLEY_RELAY_POD: user,
      PARLEY_RELAY_REGION: region,
      PARLEY_RELAY_NATS: natsUrls(region),
      PARLEY_RELAY_NATS_USER: user,
      PARLEY_RELAY_NATS_PASSWORD: site.secrets.natsPasswords[user],
      PARLEY_RELAY_LINK_LISTEN: `${addressOf(region)}:${8120 + number}`,
      PARLEY_RELAY_LINK_LISTEN_PUBLIC: `${addressOf(region)}:${8130 + number}`,
      PARLEY_RELAY_MEDIA_LISTEN: media,
      PARLEY_RELAY_MEDIA_URL: `https://${media}/`,
      PARLEY_RELAY_MEDIA_WEBSOCKET_LISTEN: socketAddress(site, region, number),
      PARLEY_RELAY_ORIGINS: regionNames.map((any) => edgeUrl(site, any)).join(','),
      PARLEY_RELAY_MEDIA_KEYS: site.keys.publicFile,
      PARLEY_RELAY_MEDIA_CERTIFICATE_DIR: certificateDir(site, region, number),
    },
    files: [],
    ports: [],
    url,
    ready: () => answersOk(`${url}/readyz`),
    readyWithinMs: READY_WITHIN_MS,
  };
}

const nameOf = (region: RegionName, relay: RelayNumber): string => `${region}-relay-${relay}`;

const mediaListen = (region: RegionName, relay: RelayNumber): string =>
  `${addressOf(region)}:${8140 + relay}`;

const certificateDir = ({ dir }: Place, region: RegionName, relay: RelayNumber): string =>
  join(dir, 'media', nameOf(region, relay));
