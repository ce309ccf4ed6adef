import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes, X509Certificate, type JsonWebKey } from 'node:crypto';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere, writePrivate } from './files.ts';

/** The secrets of one local stack. Each is made once and kept under `<dir>/secrets`. */
export interface Secrets {
  /** JSON {active, keys}: private Ed25519 JWKs that sign tickets and tokens. */
  readonly keysFile: string;
  /** The same without the private parts, for services that only verify. */
  readonly publicKeysFile: string;
  readonly turnSecret: string;
  readonly turnSecretFile: string;
  readonly natsPasswords: NatsPasswords;
  /** A self-signed certificate of the edge and of `turns:`. */
  readonly tlsCertFile: string;
  readonly tlsKeyFile: string;
}

/** Relays, each of which is a user of NATS by itself. A stack runs the first two; a bench starts the third. */
export const relayNames = ['relay-1', 'relay-2', 'relay-3'] as const;
export type RelayName = (typeof relayNames)[number];

export interface NatsPasswords extends Readonly<Record<RelayName, string>> {
  readonly signaling: string;
  readonly turn: string;
}

// Browsers refuse certificates that are valid for longer than 398 days.
const certificateDays = 390;
const renewBeforeMs = 14 * 86_400_000;

/** Reads the stack's secrets and makes missing ones. `certificateIps` are the addresses besides localhost to certify. */
export function ensureSecrets(dir: string, certificateIps: readonly string[]): Secrets {
  const at = (name: string) => secretFile(dir, name);
  const turnSecretFile = at('turn-secret');
  const tlsCertFile = at('tls-cert.pem');
  const tlsKeyFile = at('tls-key.pem');
  const publicKeysFile = at('keys-public.json');
  const publicKeys = withoutPrivateParts(once(at('keys.json'), makeKeySet));
  if (readIfThere(publicKeysFile) !== publicKeys) writePrivate(publicKeysFile, publicKeys);
  ensureCertificate(tlsCertFile, tlsKeyFile, ['127.0.0.1', '::1', ...certificateIps]);
  return {
    keysFile: at('keys.json'),
    publicKeysFile,
    turnSecret: once(turnSecretFile, () => randomBytes(32).toString('hex')),
    turnSecretFile,
    natsPasswords: {
      signaling: natsPassword(dir, 'signaling'),
      'relay-1': natsPassword(dir, 'relay-1'),
      'relay-2': natsPassword(dir, 'relay-2'),
      'relay-3': natsPassword(dir, 'relay-3'),
      turn: natsPassword(dir, 'turn'),
    },
    tlsCertFile,
    tlsKeyFile,
  };
}

/** The password of a user of NATS: made once, like the others. */
export function natsPassword(dir: string, user: string): string {
  return once(secretFile(dir, `nats-${user}`), makePassword);
}

export const secretFile = (dir: string, name: string): string => join(dir, 'secrets', name);

/** Reads the file; where there is none, makes its content first. */
export function once(path: string, make: () => string): string {
  const kept = readIfThere(path);
  if (kept !== undefined) return kept;
  const made = make();
  writePrivate(path, made);
  return made;
}

/** `{active, keys}` with one new key, as JSON. */
export function makeKeySet(): string {
  const kid = randomBytes(6).toString('hex');
  const { privateKey } = generateKeyPairSync('ed25519');
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid, alg: 'EdDSA', use: 'sig' };
  return JSON.stringify({ active: kid, keys: [jwk] }, null, 2);
}

/** The key set as JSON, for services that only verify. */
export function withoutPrivateParts(keySet: string): string {
  const { active, keys } = JSON.parse(keySet) as { active: string; keys: (JsonWebKey & { kid: string })[] };
  return JSON.stringify(
    { active, keys: keys.map(({ kty, crv, kid, x }) => ({ kty, crv, kid, x })) },
    null,
    2,
  );
}

// nats-server parses the value of a variable: digits alone would become a number, so a letter is first.
function makePassword(): string {
  return `p${randomBytes(24).toString('hex')}`;
}

function ensureCertificate(certFile: string, keyFile: string, ips: readonly string[]): void {
  const pem = readIfThere(certFile);
  if (pem !== undefined && readIfThere(keyFile) !== undefined) {
    const certificate = new X509Certificate(pem);
    const lasts = Date.parse(certificate.validTo) - Date.now() > renewBeforeMs;
    if (lasts && ips.every((ip) => certificate.checkIP(ip) !== undefined)) return;
  }
  const names = ['DNS:localhost', ...ips.map((ip) => `IP:${ip}`)].join(',');
  const partial = (file: string) => `${file}.${process.pid}.tmp`;
  mkdirSync(join(certFile, '..'), { recursive: true, mode: 0o700 });
  const curve = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'.split(' ');
  const subject = ['-subj', '/CN=Parley on this machine', '-addext', `subjectAltName=${names}`];
  const output = ['-keyout', partial(keyFile), '-out', partial(certFile)];
  execFileSync('openssl', [...curve, '-days', String(certificateDays), ...subject, ...output], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  renameSync(partial(keyFile), keyFile);
  renameSync(partial(certFile), certFile);
}
