/**
 * Signs with cosign: with the identity of the workflow that runs, which Fulcio certifies and Rekor logs, or with a private key and no
 * log, where neither is reached.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Lab } from '../../infra/cluster/src/lab.ts';
import { run } from '../../infra/cluster/src/run.ts';
import type { Options } from './options.ts';

/** What an attestation is about, in the words of cosign. */
export type Predicate = 'spdxjson' | 'slsaprovenance1';

export interface Signer {
  /** Signs what a name with a digest stands for. */
  sign(name: string): Promise<void>;
  /** Attaches a signed statement: the file has its predicate. */
  attest(name: string, type: Predicate, file: string): Promise<void>;
  /** Writes the signature of a file beside it, as `FILE.sigstore.json`; answers that name. */
  signFile(file: string): Promise<string>;
  /** Writes the public key, if there is one. */
  writePublicKey(file: string): Promise<void>;
  close(): void;
}

export async function openSigner(lab: Lab, { key, isPlainHttp }: Options): Promise<Signer> {
  const cosign = join(lab.toolDir('cosign', 'COSIGN_VERSION'), 'cosign');
  const scratch = mkdtempSync(join(tmpdir(), 'parley-sign-'));
  const how = ['--yes'];
  if (key !== undefined) {
    // A configuration that names no services.
    const services = join(scratch, 'services.json');
    await run([cosign, 'signing-config', 'create', '--out', services]);
    how.push('--key', key, '--signing-config', services);
  }
  const http = isPlainHttp ? ['--allow-http-registry'] : [];
  return {
    async sign(name) {
      await run([cosign, 'sign', ...how, ...http, name]);
    },
    async attest(name, type, file) {
      await run([cosign, 'attest', ...how, ...http, '--type', type, '--predicate', file, name]);
    },
    async signFile(file) {
      const bundle = `${file}.sigstore.json`;
      await run([cosign, 'sign-blob', ...how, '--bundle', bundle, file]);
      // cosign hides what is to be published.
      chmodSync(bundle, 0o644);
      return bundle;
    },
    async writePublicKey(file) {
      if (key === undefined) return;
      await run([cosign, 'public-key', '--key', key, '--outfile', file]);
      chmodSync(file, 0o644);
    },
    close() {
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}
