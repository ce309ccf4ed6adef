import { freePort, tcpProblem, udpProblem } from './free-port.ts';

/** Every port of the local stack: its default, the variable that changes it, and its purpose. */
export const portTable = {
  edge: { port: 8080, variable: 'PARLEY_EDGE_PORT', use: 'the edge (http)' },
  edgeTls: { port: 8443, variable: 'PARLEY_EDGE_TLS_PORT', use: 'the edge (https)' },
  edgeAdmin: { port: 9901, variable: 'PARLEY_EDGE_ADMIN_PORT', use: "the edge's administration" },
  pod1: { port: 8101, variable: 'PARLEY_POD1_PORT', use: 'the first signaling pod' },
  pod2: { port: 8102, variable: 'PARLEY_POD2_PORT', use: 'the second signaling pod' },
  relay1: { port: 8121, variable: 'PARLEY_RELAY1_PORT', use: 'the first relay' },
  relay2: { port: 8122, variable: 'PARLEY_RELAY2_PORT', use: 'the second relay' },
  relay1Link: { port: 8131, variable: 'PARLEY_RELAY1_LINK_PORT', use: 'links to the first relay' },
  relay2Link: { port: 8132, variable: 'PARLEY_RELAY2_LINK_PORT', use: 'links to the second relay' },
  relay1Media: { port: 8141, variable: 'PARLEY_RELAY1_MEDIA_PORT', use: 'media of the first relay (UDP)' },
  relay2Media: { port: 8142, variable: 'PARLEY_RELAY2_MEDIA_PORT', use: 'media of the second relay (UDP)' },
  relay1MediaSocket: {
    port: 8151,
    variable: 'PARLEY_RELAY1_MEDIA_SOCKET_PORT',
    use: 'media of the first relay over WebSocket',
  },
  relay2MediaSocket: {
    port: 8152,
    variable: 'PARLEY_RELAY2_MEDIA_SOCKET_PORT',
    use: 'media of the second relay over WebSocket',
  },
  web: { port: 8090, variable: 'PARLEY_WEB_PORT', use: 'the web application' },
  nats: { port: 4222, variable: 'PARLEY_NATS_PORT', use: 'NATS' },
  natsMonitor: { port: 8222, variable: 'PARLEY_NATS_MONITOR_PORT', use: "NATS' monitoring" },
  turn: { port: 3478, variable: 'PARLEY_TURN_PORT', use: 'TURN' },
  turns: { port: 5349, variable: 'PARLEY_TURNS_PORT', use: 'TURN over TLS' },
  turnMin: { port: 49160, variable: 'PARLEY_TURN_MIN_PORT', use: "TURN's first relay port" },
  turnMax: { port: 52999, variable: 'PARLEY_TURN_MAX_PORT', use: "TURN's last relay port" },
} as const;

export type PortName = keyof typeof portTable;
export type Ports = Readonly<Record<PortName, number>>;

const portNames = Object.keys(portTable) as PortName[];

/** A port that a process is about to listen on. */
export interface PortUse {
  readonly name: PortName;
  readonly host: string;
  readonly port: number;
  readonly protocol: 'tcp' | 'udp';
}

export function portsFromEnv(env: NodeJS.ProcessEnv): Ports {
  return fillPorts((name) => {
    const { port, variable } = portTable[name];
    const text = env[variable];
    if (text === undefined || text === '') return port;
    const moved = Number(text);
    if (!Number.isInteger(moved) || moved < 1 || moved > 65535) {
      throw new Error(`${variable} is ${text}: it takes a port, 1 to 65535`);
    }
    return moved;
  });
}

/** Ports without a listener, except those of TURN: a test's TURN server has an address to itself. */
export async function freePorts(fixed: Partial<Ports>): Promise<Ports> {
  const chosen = new Map<PortName, number>();
  const asked = new Set(Object.values(fixed));
  for (const name of portNames) {
    const kept = fixed[name] ?? (name.startsWith('turn') ? portTable[name].port : undefined);
    chosen.set(name, kept ?? (await freePort(asked)));
  }
  return fillPorts((name) => chosen.get(name) ?? portTable[name].port);
}

/** Throws with a message that names the variable to set, if another program listens on one of these ports. */
export async function requireFree(uses: readonly PortUse[]): Promise<void> {
  for (const use of uses) {
    const problem = await (use.protocol === 'tcp' ? tcpProblem(use) : udpProblem(use));
    if (problem === undefined) continue;
    const { variable, use: purpose } = portTable[use.name];
    const where = `${use.protocol} port ${use.port} on ${use.host}`;
    if (problem !== 'EADDRINUSE')
      throw new Error(`${where} (${purpose}) cannot be used: ${problem}; ${variable} moves it`);
    const hint = use.name.startsWith('turn')
      ? " A coturn service of the system may hold it ('systemctl status coturn')."
      : '';
    throw new Error(
      `${where} is taken by another program, and ${purpose} needs it: stop that program, or set ${variable} to a free port.${hint}`,
    );
  }
}

function fillPorts(port: (name: PortName) => number): Ports {
  return Object.fromEntries(portNames.map((name) => [name, port(name)])) as Ports;
}
