/** TLS towards the NATS servers of a region. SPEC rules BUS-9 to BUS-11. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The option `tls` of the NATS client, which reads `caFile` at each connection. */
export interface BusTls {
  readonly caFile?: string;
  readonly handshakeFirst?: boolean;
}

/**
 * With a CA the client begins the TLS handshake before it reads anything, which the servers have to expect (`handshake_first`). `tls://`
 * without a CA requires a certificate of a public CA, after the server's INFO.
 */
export function busTls(servers: readonly string[], ca: string | undefined): { readonly tls?: BusTls } {
  if (ca !== undefined) return { tls: { caFile: ca, handshakeFirst: true } };
  return servers.some((server) => server.startsWith('tls://')) ? { tls: {} } : {};
}

/** Returns the path if the file holds certificates (PEM) and all of them can be read; otherwise throws an error that names the file. */
export function checkCaFile(path: string): string {
  for (const pem of certificatesIn(path)) {
    try {
      new X509Certificate(pem);
    } catch (cause) {
      throw new Error(`${path} has a certificate that cannot be read`, { cause });
    }
  }
  return path;
}

function certificatesIn(path: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Error(`${path} cannot be read`, { cause });
  }
  const found = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g);
  if (found === null) throw new Error(`${path} holds no certificate (PEM)`);
  return found;
}
