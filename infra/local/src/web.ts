import { existsSync } from 'node:fs';
import { inRepository } from './repository.ts';
import { answersOk, localhost, type Site } from './site.ts';
import type { ProcessSpec } from './supervise.ts';

/** The web application's own server, which the image runs too. It serves what `npm run build` made. */
export function webSpec({ ports, tools, mediaIp }: Site): ProcessSpec {
  if (!existsSync(inRepository('client/web/dist/index.html'))) {
    throw new Error('the web application is not built: run `make build`');
  }
  const url = `http://${localhost}:${ports.web}`;
  return {
    name: 'web',
    command: tools.node,
    args: [inRepository('client/web/server.ts')],
    env: {
      PARLEY_LISTEN: `${localhost}:${ports.web}`,
      // The relays' WebTransport, whichever ports they have.
      PARLEY_CONNECT_SRC: `https://${mediaIp}:*`,
    },
    files: [],
    ports: [{ name: 'web', host: localhost, port: ports.web, protocol: 'tcp' }],
    url,
    ready: () => answersOk(`${url}/healthz`),
  };
}
