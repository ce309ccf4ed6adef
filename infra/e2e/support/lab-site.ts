/** The whole of Parley inside a lab's site namespace, started and stopped as `make up` and `make down` do it. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SITE_ADDRESS } from './namespaces.ts';

const execute = promisify(execFile);

export interface LabSite {
  /** Over TLS: browsers give cameras to secure pages only. */
  readonly web: string;
  readonly turnPort: number;
  /** TURN over TLS. */
  readonly turnsPort: number;
  close(): Promise<void>;
}

/** `env` as `make up` takes it. */
export async function startLabSite(
  lab: { readonly inSite: readonly string[] },
  env: NodeJS.ProcessEnv = {},
): Promise<LabSite> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-lab-site-'));
  const inSite = async (script: string): Promise<void> => {
    const file = fileURLToPath(import.meta.resolve(`@parley/local/${script}`));
    const [enter = '', ...into] = lab.inSite;
    await execute(enter, [...into, process.execPath, file], {
      env: {
        ...process.env,
        PARLEY_LOCAL_DIR: dir,
        PARLEY_TURN_IP: SITE_ADDRESS,
        PARLEY_MEDIA_IP: SITE_ADDRESS,
        PARLEY_EDGE_HOST: SITE_ADDRESS,
        ...env,
      },
    });
  };
  await inSite('up');
  return {
    web: `https://${SITE_ADDRESS}:8443`,
    turnPort: 3478,
    turnsPort: 5349,
    async close() {
      await inSite('down');
      await rm(dir, { recursive: true, force: true });
    },
  };
}
