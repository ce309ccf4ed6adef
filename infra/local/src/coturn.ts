import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LIMITS } from '@parley/protocol/limits';
import { probeStun } from '@parley/turn/probe';
import { renderTurnserver } from '@parley/turn/render';
import { inUrl, type Site } from './site.ts';
import type { ProcessSpec } from './supervise.ts';

// A loopback address of its own: two clients of this machine behind TURN connect there, while 127.0.0.1, where other services
// of the machine listen, stays refused as a peer.
export const defaultTurnIp = '127.77.0.1';

const probeTimeoutMs = 1000;

/** The addresses of TURN for clients: over UDP, over TCP, and over TLS for clients behind strict firewalls. */
export function turnUrls({ turnIp, ports }: Site): string[] {
  return [
    `turn:${inUrl(turnIp)}:${ports.turn}?transport=udp`,
    `turn:${inUrl(turnIp)}:${ports.turn}?transport=tcp`,
    `turns:${inUrl(turnIp)}:${ports.turns}?transport=tcp`,
  ];
}

export function stunUrls({ turnIp, ports }: Site): string[] {
  return [`stun:${inUrl(turnIp)}:${ports.turn}`];
}

export function coturnSpec(site: Site): ProcessSpec {
  const { dir, ports, secrets, tools, turnIp } = site;
  const config = join(dir, 'conf/turnserver.conf');
  const content = renderTurnserver({
    listeningIps: [turnIp],
    relayIps: [turnIp],
    externalIps: [],
    port: ports.turn,
    tlsPort: ports.turns,
    minPort: ports.turnMin,
    maxPort: ports.turnMax,
    tlsCertFile: secrets.tlsCertFile,
    tlsKeyFile: secrets.tlsKeyFile,
    realm: 'parley.local',
    secret: secrets.turnSecret,
    meshParticipants: Number(site.env['PARLEY_LIMIT_MESH_PARTICIPANTS'] ?? LIMITS['mesh.participants'].value),
    networkAllocations: Number(
      site.env['PARLEY_LIMIT_TURN_NETWORK_ALLOCATIONS'] ?? LIMITS['turn.networkAllocations'].value,
    ),
    turnNodeIps: [turnIp],
    allowLoopbackPeers: turnIp.startsWith('127.') || turnIp === '::1',
    stateDir: join(dir, 'conf'),
  });
  return {
    name: 'coturn',
    command: tools.turnserver,
    args: ['-c', config],
    logFilter: fileURLToPath(import.meta.resolve('@parley/turn/log-filter')),
    env: {},
    files: [{ path: config, content }],
    ports: [
      { name: 'turn', host: turnIp, port: ports.turn, protocol: 'udp' },
      { name: 'turn', host: turnIp, port: ports.turn, protocol: 'tcp' },
      { name: 'turns', host: turnIp, port: ports.turns, protocol: 'tcp' },
    ],
    url: `turn:${inUrl(turnIp)}:${ports.turn}`,
    ready: () => probeStun(turnIp, ports.turn, probeTimeoutMs),
  };
}
