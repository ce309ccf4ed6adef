import { readFileSync } from 'node:fs';
import { isIP, isIPv4 } from 'node:net';
import { deniedPeers, rangeOf } from './denied-peers.ts';
import { fillTemplate } from './template.ts';

/** The settings of one TURN node. Addresses are IP literals, as coturn resolves no names. */
export interface TurnSettings {
  readonly listeningIps: readonly string[];
  readonly relayIps: readonly string[];
  /** `public` or `public/private` for a node behind one-to-one NAT; empty when the relay addresses are reachable. */
  readonly externalIps: readonly string[];
  readonly port: number;
  readonly tlsPort: number;
  readonly minPort: number;
  readonly maxPort: number;
  readonly tlsCertFile: string;
  readonly tlsKeyFile: string;
  readonly realm: string;
  readonly secret: string;
  /** The most participants that connect directly (mesh.participants): the quota of a network is never below what such a call takes. */
  readonly meshParticipants: number;
  /** The limit turn.networkAllocations. */
  readonly networkAllocations: number;
  /** The relay addresses, as clients see them, of every TURN node that two participants of one call may use. */
  readonly turnNodeIps: readonly string[];
  /** Blocks, such as `2001:db8:1::/48`, that are refused besides the ranges of denied-peers.ts. */
  readonly deniedPeers?: readonly string[];
  /** For a single machine: allows the loopback addresses in `turnNodeIps` as peers; other loopback addresses stay denied. */
  readonly allowLoopbackPeers: boolean;
  /** Writable directory for the pid file and coturn's own database. */
  readonly stateDir: string;
}

// Transports offered, networks of a client, old and new allocation during an ICE restart: see turnserver.conf.
const allocationsPerConnection = 3 * 2 * 2;

// The least number of connections through TURN at once, also with a small mesh: a visitor of pages has up to 14 (SPEC rule PAGE-14), few of them
// through TURN, and a participant that cannot use relays keeps a connection to each participant of a large room.
const minConnections = 8;

// The share of the relay ports that no quota grants.
const SPARE_PORTS = 1 / 16;

// 8 Mbit/s: 2.5 for a camera, 4 for a screen, audio, and headroom for retransmission.
const maxBytesPerSecond = 1_000_000;

/** The text of turnserver.conf. It contains the secret: make it readable by coturn's user only. */
export function renderTurnserver(settings: TurnSettings): string {
  for (const ip of [...settings.listeningIps, ...settings.relayIps, ...settings.turnNodeIps]) requireIp(ip);
  for (const external of settings.externalIps) for (const ip of external.split('/')) requireIp(ip);
  if (!/^[\x21-\x7e]+$/.test(settings.secret))
    throw new Error('the TURN secret must be printable, without spaces');
  if (settings.minPort > settings.maxPort) throw new Error('the relay port range is empty');

  const template = readFileSync(new URL('../turnserver.conf', import.meta.url), 'utf8');
  return fillTemplate(template, {
    LISTENING_IPS: lines('listening-ip', settings.listeningIps),
    RELAY_IPS: lines('relay-ip', settings.relayIps),
    EXTERNAL_IPS: lines('external-ip', settings.externalIps),
    DEFAULT_FAMILY: settings.relayIps.some(isIPv4) ? '' : 'allocation-default-address-family=ipv6',
    PORT: String(settings.port),
    TLS_PORT: String(settings.tlsPort),
    MIN_PORT: String(settings.minPort),
    MAX_PORT: String(settings.maxPort),
    TLS_CERT: settings.tlsCertFile,
    TLS_KEY: settings.tlsKeyFile,
    SECRET: settings.secret,
    REALM: settings.realm,
    USER_QUOTA: String(networkQuota(settings)),
    TOTAL_QUOTA: String(totalQuota(settings)),
    MAX_BPS: String(maxBytesPerSecond),
    LOOPBACK: settings.allowLoopbackPeers ? 'allow-loopback-peers' : '',
    ALLOWED_PEERS: lines('allowed-peer-ip', settings.turnNodeIps),
    DENIED_PEERS: [
      ...deniedPeers.map(({ range, reason }) => `# ${reason}\ndenied-peer-ip=${range}`),
      ...(settings.deniedPeers ?? []).map((block) => `# ${block}\ndenied-peer-ip=${rangeOf(block)}`),
    ].join('\n'),
    STATE_DIR: settings.stateDir,
  });
}

/** The allocations of one client network. SPEC rule TURN-9. */
export function networkQuota({
  meshParticipants,
  networkAllocations,
}: Pick<TurnSettings, 'meshParticipants' | 'networkAllocations'>): number {
  const oneParticipant = Math.max(minConnections, meshParticipants - 1) * allocationsPerConnection;
  return Math.max(networkAllocations, oneParticipant);
}

/**
 * The allocations of a node. Some ports stay free, as coturn tries ports at random: each of the last ones would cost thousands of attempts, and a log
 * line for each port that another socket of the node uses.
 */
export function totalQuota({ minPort, maxPort }: Pick<TurnSettings, 'minPort' | 'maxPort'>): number {
  const ports = maxPort - minPort + 1;
  return Math.ceil(ports * (1 - SPARE_PORTS));
}

function lines(option: string, values: readonly string[]): string {
  return values.map((value) => `${option}=${value}`).join('\n');
}

function requireIp(text: string): void {
  if (isIP(text) === 0) throw new Error(`not an IP address: ${text}`);
}
