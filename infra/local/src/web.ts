import { existsSync } from 'node:fs';
import { inRepository } from './repository.ts';
import { answersOk, inUrl, localhost, type Site } from './site.ts';
import type { ProcessSpec } from './supervise.ts';

/** The web application's own server, which the image runs too. It serves what `npm run build` made. */
export function webSpec({ ports, mediaIp }: Site): ProcessSpec {
  const address = { host: localhost, port: ports.web };
  return {
    // The relays' WebTransport, whichever ports they have.
    ...webServerSpec({ name: 'web', into: [], ...address, connect: [`https://${inUrl(mediaIp)}:*`] }),
    ports: [{ name: 'web', ...address, protocol: 'tcp' }],
  };
}

/** `into`: the beginning of a command that runs it elsewhere. `connect`: sources for the content security policy. */
export function webServerSpec({
  name,
  into,
  host,
  port,
  connect,
}: {
  readonly name: string;
  readonly into: readonly string[];
  readonly host: string;
  readonly port: number;
  readonly connect: readonly string[];
}): ProcessSpec {
  if (!existsSync(inRepository('client/web/dist/index.html'))) {
    throw new Error('the web application is not built: run `make build`');
  }
  const url = `http://${host}:${port}`;
  const server = [process.execPath, inRepository('client/web/server.ts')] as const;
  const [command, ...args] = [...into, ...server];
  return {
    name,
    command,
    args,
    env: { PARLEY_LISTEN: `${host}:${port}`, PARLEY_CONNECT_SRC: connect.join(' ') },
    files: [],
    ports: [],
    url,
    ready: () => answersOk(`${url}/healthz`),
  };
}
