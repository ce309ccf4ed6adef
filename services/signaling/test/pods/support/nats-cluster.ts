/** Three real NATS servers with JetStream that replicates to all of them, on free ports, in a directory of their own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '../../support/deadline.ts';
import { freePort } from '../../../../../infra/local/src/free-port.ts';
import { natsBinary } from '../../support/nats.ts';

export interface ClusterServer {
  readonly name: string;
  readonly url: string;
  start(): void;
  /** As `kill -9`. */
  kill(): Promise<void>;
  /** SIGUSR2: it accepts no new connections and asks its clients to leave. */
  lameDuck(): void;
  /** Clients connected to it. */
  clients(): Promise<number>;
  /** Whether JetStream works here: there is a leader, and this server is up to date with it. */
  hasJetStream(): Promise<boolean>;
}

export interface NatsCluster {
  readonly servers: readonly ClusterServer[];
  close(): Promise<void>;
}

export async function startNatsCluster(): Promise<NatsCluster> {
  const binary = natsBinary();
  const directory = mkdtempSync(path.join(tmpdir(), 'parley-nats-cluster-'));
  const ports = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const [client, route, monitor] = await Promise.all([freePort(), freePort(), freePort()]);
      return { client, route, monitor };
    }),
  );
  const routes = ports.map(({ route }) => `nats://127.0.0.1:${route}`).join(', ');
  const servers = ports.map(({ client, route, monitor }, at): ClusterServer => {
    const name = `n${at + 1}`;
    const file = path.join(directory, `${name}.conf`);
    writeFileSync(
      file,
      `server_name: ${name}
listen: "127.0.0.1:${client}"
http: "127.0.0.1:${monitor}"
jetstream { store_dir: "${path.join(directory, name)}" }
cluster { name: tests, listen: "127.0.0.1:${route}", routes: [${routes}] }
`,
    );
    let child: ChildProcess | undefined;
    const ask = async (what: string): Promise<unknown> =>
      fetch(`http://127.0.0.1:${monitor}/${what}`, { signal: AbortSignal.timeout(2000) }).then((answer) =>
        answer.ok ? answer.json() : undefined,
      );
    return {
      name,
      url: `nats://127.0.0.1:${client}`,
      start: () => (child = spawn(binary, ['-c', file], { stdio: 'ignore' })),
      async kill() {
        if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
        const exit = once(child, 'exit');
        child.kill('SIGKILL');
        await exit;
      },
      lameDuck: () => void child?.kill('SIGUSR2'),
      clients: async () => ((await ask('varz')) as { connections: number }).connections,
      hasJetStream: async () => (await ask('healthz').catch(() => undefined)) !== undefined,
    };
  });
  for (const server of servers) server.start();
  for (const server of servers)
    await eventually(`${server.name} has JetStream`, () => server.hasJetStream(), 20_000);
  return {
    servers,
    async close() {
      for (const server of servers) await server.kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
