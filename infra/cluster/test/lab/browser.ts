/** A browser outside of the cluster, which comes by one of its nodes. */
import { afterEach } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { launchChromium } from '@parley/e2e/support/browsers.ts';
import { opened } from '@parley/e2e/support/opened.ts';
import type { Node } from '../../src/lab.ts';
import { host } from '../../src/release.ts';

export const web = `https://${host}`;

/** The edge's certificate is its own; `turns:` has the same one, which only this flag lets pass. */
const trusting = '--ignore-certificate-errors';
const executable = fileURLToPath(new URL('chromium-of-people.sh', import.meta.url));

export function launchBy(node: Node): Promise<Browser> {
  return launchChromium({
    executable,
    args: [`--host-resolver-rules=MAP ${host} ${node.address}`, trusting],
  });
}

/** To be called inside a `describe`: a browser that comes by the load balancer, without pages after each test. */
export function withBrowser(): () => Browser {
  const browser = opened(async (keep) => keep(await launchChromium({ executable, args: [trusting] })));
  afterEach(() =>
    Promise.all(
      browser()
        .contexts()
        .map((profile) => profile.close()),
    ),
  );
  return browser;
}
