/** A registry on this machine, with its content in a directory. Each request needs the password. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../../infra/local/src/free-port.ts';
import { until } from '../../../infra/e2e/support/until.ts';

export interface Registry {
  /** `HOST:PORT`. */
  readonly address: string;
  /** The digest that a tag stands for, as the registry states it. */
  digestOf(repository: string, tag: string): Promise<string>;
  close(): Promise<void>;
}

export const user = 'parley';
export const password = 'secret';
/** The line of that user in a file of Apache's htpasswd: bcrypt, the one form that the registry takes, as cheap as it can be. */
const HASHED = `${user}:$2b$04$gpqmPeRwS3iI6MSqww352urCfnj1AF1wKzP9H..xveHFr410v3u2S\n`;

/** The media types of an index and of a chart's manifest. */
const ACCEPT = ['index', 'manifest'].map((kind) => `application/vnd.oci.image.${kind}.v1+json`).join(', ');

export async function startRegistry(directory: string): Promise<Registry> {
  const address = `127.0.0.1:${await freePort()}`;
  const file = join(directory, 'registry.json');
  const storage = { filesystem: { rootdirectory: join(directory, 'registry') } };
  const users = join(directory, 'users');
  writeFileSync(users, HASHED);
  const auth = { htpasswd: { realm: 'test', path: users } };
  writeFileSync(
    file,
    JSON.stringify({ version: 0.1, log: { level: 'error' }, storage, auth, http: { addr: address } }),
  );
  const server = spawn('docker-registry', ['serve', file], { stdio: 'ignore' });
  const ended = once(server, 'exit');
  const headers = {
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
    accept: ACCEPT,
  };
  const answers = () =>
    fetch(`http://${address}/v2/`, { headers }).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(answers, { withinMs: 30_000, what: () => `the registry at ${address}` });
  return {
    address,
    async digestOf(repository, tag) {
      const url = `http://${address}/v2/${repository}/manifests/${tag}`;
      const answer = await fetch(url, { method: 'HEAD', headers });
      return answer.headers.get('docker-content-digest') ?? `none: ${answer.status}`;
    },
    async close() {
      server.kill();
      await ended;
    },
  };
}
