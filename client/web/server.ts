/**
 * Serves the built application. PARLEY_LISTEN is host:port; PARLEY_WEB_ROOT is the folder of the build (`dist` beside this file); PARLEY_FRAME_ANCESTORS and PARLEY_CONNECT_SRC are space-separated sources for
 * the content security policy.
 */
import { fileURLToPath } from 'node:url';
import { createSite } from './server/site.ts';

/** After SIGTERM: the time that a slow phone needs for the largest file. */
const DRAIN_MS = 5000;

const words = (text: string | undefined): readonly string[] => text?.split(/\s+/).filter(Boolean) ?? [];
const log = (message: string, facts: object = {}): void => {
  process.stdout.write(
    `${JSON.stringify({ level: 'info', time: new Date().toISOString(), message, ...facts })}\n`,
  );
};

const listen = process.env['PARLEY_LISTEN'] ?? '127.0.0.1:8090';
const address = /^(?<host>.+):(?<port>\d{1,5})$/.exec(listen)?.groups;
if (!address?.['host']) throw new Error(`PARLEY_LISTEN must be host:port, not "${listen}"`);

const site = createSite({
  root: process.env['PARLEY_WEB_ROOT'] ?? fileURLToPath(new URL('dist', import.meta.url)),
  frameAncestors: words(process.env['PARLEY_FRAME_ANCESTORS']),
  connect: words(process.env['PARLEY_CONNECT_SRC']),
});
site.listen(Number(address['port']), address['host'].replaceAll(/[[\]]/g, ''), () =>
  log('listening', { listen }),
);

let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    log('stopping', { signal });
    site.close(() => process.exit(0));
    site.closeIdleConnections();
    setTimeout(() => process.exit(0), DRAIN_MS).unref();
  });
