/** Credentials of the registry, in the one format that skopeo, Helm and cosign read. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Credentials {
  /** Forgets them. */
  close(): void;
}

/** Lets programs that this process starts use `REGISTRY_USER` and `REGISTRY_PASSWORD`; without them, the logins of this machine. */
export function useCredentials(env: NodeJS.ProcessEnv, registry: string): Credentials {
  const { REGISTRY_USER: user, REGISTRY_PASSWORD: password } = env;
  if (!user || !password) return { close: () => undefined };
  const directory = mkdtempSync(join(tmpdir(), 'parley-registry-'));
  const file = join(directory, 'config.json');
  const [host = ''] = registry.split('/');
  const auth = Buffer.from(`${user}:${password}`).toString('base64');
  writeFileSync(file, JSON.stringify({ auths: { [host]: { auth } } }), { mode: 0o600 });
  const places = { DOCKER_CONFIG: directory, REGISTRY_AUTH_FILE: file, HELM_REGISTRY_CONFIG: file };
  Object.assign(process.env, places);
  return {
    close() {
      for (const name of Object.keys(places)) delete process.env[name];
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
