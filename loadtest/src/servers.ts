/** Starts and stops the measured servers: the references, and Parley's pods with a NATS of their own. */
import type { ChildProcess } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NODE_OPTIONS } from '@parley/signaling/node-options';
import { freePort } from '@parley/local/free-port';
import type { EarlierCommit } from './earlier.ts';
import type { Target } from './generator/dialect.ts';
import type { Watched } from './job.ts';
import { PARLEY_LIMITS } from './limits.ts';
import { startNats } from './nats.ts';
import type { ReferenceName } from './plan.ts';
import { HOST, canConnect, isReady, pidOf, start, stop, until } from './process.ts';

export interface Server {
  readonly dialect: 'parley' | 'min';
  readonly targets: readonly Target[];
  readonly watched: readonly Watched[];
  close(): Promise<void>;
}

export interface StartOptions {
  /** Where logs, keys and NATS' files go. */
  readonly dir: string;
  /** Writes a CPU profile of each pod there when it stops. */
  readonly profileTo: string | undefined;
  /** The pod, where it is not the working tree's. */
  readonly earlier?: Pick<EarlierCommit, 'signaling' | 'limits'>;
}

export async function startReference(
  reference: ReferenceName,
  { dir }: Pick<StartOptions, 'dir'>,
): Promise<Server> {
  const { name, dialect } = REFERENCES[reference];
  const target = { host: HOST, port: await freePort() };
  const program = fileURLToPath(new URL(`../references/${name}.ts`, import.meta.url));
  const child = start(process.execPath, [program, String(target.port)], {
    log: join(dir, `${name}.log`),
    env: {},
  });
  await until(() => canConnect(target), child, name);
  return { dialect, targets: [target], watched: [watch(name, child)], close: () => stop(child) };
}

const REFERENCES = {
  naive: { name: 'naive-ws', dialect: 'min' },
  opaque: { name: 'opaque-ws', dialect: 'min' },
  equal: { name: 'equal-work-ws', dialect: 'parley' },
} as const;

/** `pods` of one region, with one NATS server. */
export async function startParley(pods: number, { dir, profileTo, earlier }: StartOptions): Promise<Server> {
  const home = join(dir, `parley-${pods}${earlier === undefined ? '' : '-before'}`);
  mkdirSync(home, { recursive: true });
  const nats = await startNats(home);
  const keysFile = join(home, 'keys.json');
  writeFileSync(keysFile, JSON.stringify(newKeySet()), { mode: 0o600 });
  const turnSecret = randomBytes(24).toString('hex');
  const running: { child: ChildProcess; target: Target; name: string }[] = [];
  for (let at = 1; at <= pods; at += 1) {
    const target = { host: HOST, port: await freePort() };
    const name = `pod-${at}`;
    const env = {
      PARLEY_POD: name,
      PARLEY_LISTEN: `${target.host}:${target.port}`,
      PARLEY_NATS_URL: nats.url,
      PARLEY_KEYS_FILE: keysFile,
      // Credentials are part of every join; there is no TURN server at this address.
      PARLEY_TURN_SECRET: turnSecret,
      PARLEY_TURN_URLS: 'turn:192.0.2.1:3478?transport=udp,turn:192.0.2.1:3478?transport=tcp',
      PARLEY_STUN_URLS: 'stun:192.0.2.1:3478',
      ...(earlier?.limits ?? PARLEY_LIMITS),
    };
    const profile = profileTo === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileTo}`];
    const program = earlier === undefined ? [...NODE_OPTIONS, SIGNALING] : [earlier.signaling];
    const child = start(process.execPath, [...profile, ...program], {
      log: join(home, `${name}.log`),
      env,
    });
    running.push({ child, target, name });
  }
  for (const { child, target, name } of running) await until(() => isReady(target), child, name);
  return {
    dialect: 'parley',
    targets: running.map(({ target }) => target),
    watched: [...running.map(({ child, name }) => watch(name, child)), watch('nats', nats.child)],
    async close() {
      await Promise.all(running.map(({ child }) => stop(child)));
      await stop(nats.child);
    },
  };
}

const SIGNALING = fileURLToPath(new URL('../../services/signaling/src/main.ts', import.meta.url));

const watch = (name: string, child: ChildProcess): Watched => ({ name, pid: pidOf(child, name) });

function newKeySet(): unknown {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { active: 'bench', keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'bench' }] };
}
