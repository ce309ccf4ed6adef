/** The paths whose delay `make bench-calls` measures, each on a complete stack with two real browsers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { launchChromium } from '@parley/e2e/support/browsers.ts';
import { startLabSite } from '@parley/e2e/support/lab-site.ts';
import { startWanLab } from '@parley/e2e/support/wan-lab.ts';
import { freePorts } from '@parley/local/ports';
import { startStack, type Stack } from '@parley/local/stack';
import { limitKey } from '@parley/protocol/limits';
import type { Browser } from 'playwright-core';

export interface Scenario {
  readonly name: string;
  readonly path: 'mesh' | 'sfu';
  readonly webSocketOnly: boolean;
  readonly open: () => Promise<Place>;
}

/** Where the two are: the same browser for both, or one each. */
export interface Place {
  readonly web: string;
  readonly browsers: readonly [Browser, Browser];
  close(): Promise<void>;
}

const RELAYED = { [limitKey('mesh.participants')]: '1' };
const APART = { ...RELAYED, [limitKey('media.participantsPerRelay')]: '1' };
/** The processes end without waiting for clients. */
const AT_ONCE = { PARLEY_RELAY_LIMIT_DRAIN_WINDOW: '100' };
/** 90 ms there and back. */
const FAR = { delayMs: 45, loss: 0.05 };
/** By then leaves and origin know each other. */
const LINKED_MS = 5000;

export const SCENARIOS: readonly Scenario[] = [
  { name: 'from peer to peer', path: 'mesh', webSocketOnly: false, open: () => here({}) },
  { name: 'one relay', path: 'sfu', webSocketOnly: false, open: () => here(RELAYED) },
  { name: 'two relays', path: 'sfu', webSocketOnly: false, open: () => here(APART) },
  { name: 'three relays: leaf, origin, leaf', path: 'sfu', webSocketOnly: false, open: tree },
  { name: '90 ms away, 5 % loss: QUIC', path: 'sfu', webSocketOnly: false, open: far },
  { name: '90 ms away, 5 % loss: WebSocket', path: 'sfu', webSocketOnly: true, open: far },
];

async function here(
  env: NodeJS.ProcessEnv,
  more = (_stack: Stack, _dir: string): Promise<() => void> => Promise.resolve(() => {}),
): Promise<Place> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-bench-'));
  const stack = await startStack({ dir, env: { ...AT_ONCE, ...env } });
  const end = await more(stack, dir);
  const browser = await launchChromium();
  return {
    web: stack.endpoints.web,
    browsers: [browser, browser],
    async close() {
      await browser.close();
      end();
      await stack.stop();
      await rm(dir, { recursive: true });
    },
  };
}

/** The two relays of the stack are leaves; the origin beside them gets no clients. */
function tree(): Promise<Place> {
  return here({ ...APART, PARLEY_RELAY_MEDIA_ROLE: 'leaf' }, async ({ endpoints }, dir) => {
    const leaf = endpoints.processes['relay-1']?.pid ?? 0;
    const env = Object.fromEntries(
      readFileSync(`/proc/${leaf}/environ`, 'utf8')
        .split('\0')
        .filter((line) => line.includes('='))
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    const ports = await freePorts({});
    const [command = ''] = readFileSync(`/proc/${leaf}/cmdline`, 'utf8').split('\0');
    const origin = spawn(command, [], {
      stdio: 'ignore',
      env: {
        ...env,
        PARLEY_RELAY_POD: 'relay-3',
        PARLEY_RELAY_NATS_USER: 'relay-3',
        PARLEY_RELAY_NATS_PASSWORD: readFileSync(join(dir, 'secrets/nats-relay-3'), 'utf8'),
        PARLEY_RELAY_MEDIA_ROLE: 'origin',
        PARLEY_RELAY_LISTEN: `127.0.0.1:${ports.relay1}`,
        PARLEY_RELAY_LINK_LISTEN: `127.0.0.1:${ports.relay1Link}`,
        PARLEY_RELAY_MEDIA_LISTEN: `127.0.0.1:${ports.relay1Media}`,
        PARLEY_RELAY_MEDIA_URL: `https://127.0.0.1:${ports.relay1Media}/`,
        PARLEY_RELAY_MEDIA_WEBSOCKET_LISTEN: `127.0.0.1:${ports.relay1MediaSocket}`,
        PARLEY_RELAY_MEDIA_CERTIFICATE_DIR: `${env['PARLEY_RELAY_MEDIA_CERTIFICATE_DIR']}-origin`,
      },
    });
    const ended = once(origin, 'exit').then(() => Promise.reject(new Error('the origin ended')));
    ended.catch(() => undefined);
    await Promise.race([delay(LINKED_MS), ended]);
    return () => origin.kill();
  });
}

/** One of the two is far away. */
async function far(): Promise<Place> {
  const lab = await startWanLab(FAR);
  const site = await startLabSite(lab, { ...AT_ONCE, ...RELAYED });
  const args = ['--ignore-certificate-errors'];
  const [near, away] = [
    await launchChromium({ executable: lab.chromiumIn('near'), args }),
    await launchChromium({ executable: lab.chromiumIn('far'), args }),
  ];
  return {
    web: site.web,
    browsers: [near, away],
    async close() {
      await Promise.all([near.close(), away.close()]);
      await site.close();
      await lab.close();
    },
  };
}
