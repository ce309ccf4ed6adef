/** A TURN node as in a cluster: the agent, which runs coturn and publishes its lease. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere } from '@parley/local/files';
import { freePort } from '@parley/local/free-port';
import { inRepository } from '@parley/local/repository';
import { natsPassword } from '@parley/local/secrets';
import { answersOk } from '@parley/local/site';
import type { Stack } from '@parley/local/stack';
import { ensureRunning } from '@parley/local/supervise';

/** An address of its own, beside that of the stack's coturn: `127.78.…`. */
const IP = `127.79.${process.pid % 251}.9`;
/** Below the ports that other processes of a test get, as the agent counts the UDP sockets in its range. */
const RELAY_PORTS = { min: 17_000, max: 17_059 };

export interface TurnNode {
  readonly ip: string;
  readonly port: number;
  readonly secret: string;
  readonly metrics: string;
  coturnPid(): number;
}

/** Joins the stack in its directory, and ends with it. */
export async function startTurnNode(dir: string, { endpoints }: Stack): Promise<TurnNode> {
  const [port, tlsPort, healthPort] = [await freePort(), await freePort(), await freePort()];
  const secret = readFileSync(endpoints.turn.secretFile, 'utf8');
  const url = `http://${IP}:${healthPort}`;
  const state = join(dir, 'turn-1');
  await ensureRunning(dir, {
    name: 'turn-1',
    command: process.execPath,
    args: [inRepository('services/turn/src/main.ts')],
    env: {
      PARLEY_TURN_NODE: 'turn-1',
      PARLEY_TURN_NODE_IP: IP,
      PARLEY_TURN_SECRET: secret,
      PARLEY_TURN_PORT: String(port),
      PARLEY_TURN_TLS_PORT: String(tlsPort),
      PARLEY_TURN_HEALTH_PORT: String(healthPort),
      PARLEY_TURN_MIN_PORT: String(RELAY_PORTS.min),
      PARLEY_TURN_MAX_PORT: String(RELAY_PORTS.max),
      PARLEY_TURN_TLS_CERT: join(dir, 'secrets/tls-cert.pem'),
      PARLEY_TURN_TLS_KEY: join(dir, 'secrets/tls-key.pem'),
      PARLEY_TURN_NATS_URL: endpoints.nats,
      PARLEY_TURN_NATS_PASSWORD: natsPassword(dir, 'turn'),
      PARLEY_TURN_STATE_DIR: state,
      PARLEY_TURN_DRAIN_SECONDS: '1',
    },
    files: [],
    ports: [],
    url,
    ready: () => answersOk(`${url}/readyz`),
  });
  // A test that fails kills the agent, which then ends no coturn.
  process.once('exit', () => killCoturn(state));
  return { ip: IP, port, secret, metrics: `${url}/metrics`, coturnPid: () => coturnPid(state) };
}

const coturnPid = (state: string): number => Number(readIfThere(join(state, 'turnserver.pid')));

function killCoturn(state: string): void {
  const pid = coturnPid(state);
  if (readIfThere(`/proc/${pid}/cmdline`)?.includes(state)) process.kill(pid, 'SIGKILL');
}
