/**
 * Two homes and a site, in network namespaces of their own: one home is beside the site, one far away.
 *
 *     near 203.0.113.10 ---------- wire ----------+
 *                                                 +-- site 203.0.113.2 (the whole of Parley)
 *     far 10.80.0.1 ------ delay and loss --------+
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { findBuilt } from '@parley/local/tools';
import { makeNamespaces, SITE_ADDRESS } from './namespaces.ts';

export type WanHome = 'near' | 'far';

/** The impairments of packets between the far home and the site, each way. */
export interface Wan {
  readonly delayMs: number;
  /** 0 to 1. */
  readonly loss: number;
  /** The rate limit towards the far home, as `300kbit`; `none`: no limit. */
  readonly rate?: string;
}

export interface WanLab {
  /** The command that runs another one in the site's namespace. */
  readonly inSite: readonly string[];
  /** A program that starts Chromium in that home. */
  chromiumIn(home: WanHome): string;
  /** From now on. */
  set(wan: Partial<Wan>): void;
  /** Replaces the address of the far home, as for a phone that leaves a WLAN. */
  renumber(): void;
  close(): Promise<void>;
}

/**
 * Resolves when packets get through. The same ones are lost in each run, as far as browsers send the same. `forwards`: whether the site forwards packets
 * between the homes, so that these reach each other without TURN.
 */
export async function startWanLab(wan: Wan, forwards = false): Promise<WanLab> {
  const spaces = makeNamespaces(['site', 'near', 'far']);
  try {
    spaces.wire('site', 'lan', { name: 'near', device: 'eth0' });
    spaces.address('site', 'lan', `${SITE_ADDRESS}/24`);
    spaces.address('near', 'eth0', '203.0.113.10/24');
    const link = await startLink(
      [`${spaces.nameOf('far')},wan0,10.80.0.1/30`, `${spaces.nameOf('site')},wan0,10.80.0.2/30`],
      wan,
    );
    spaces.inside('far', 'ip route add default via 10.80.0.2');
    if (forwards) {
      spaces.inside('site', 'echo 1 > /proc/sys/net/ipv4/ip_forward');
      spaces.inside('near', `ip route add default via ${SITE_ADDRESS}`);
    }
    return {
      inSite: spaces.into('site'),
      chromiumIn: (home) => spaces.chromiumIn(home),
      set: ({ delayMs, loss, rate }) => {
        if (delayMs !== undefined) link.stdin?.write(`delay ${delayMs}ms\n`);
        if (loss !== undefined) link.stdin?.write(`loss ${loss}\n`);
        if (rate !== undefined) link.stdin?.write(`rate none,${rate}\n`);
      },
      renumber() {
        spaces.address('site', 'wan0', '10.81.0.2/30');
        spaces.inside('far', 'ip addr del 10.80.0.1/30 dev wan0');
        spaces.address('far', 'wan0', '10.81.0.1/30');
        spaces.inside('far', 'ip route replace default via 10.81.0.2');
      },
      async close() {
        link.stdin?.end();
        if (link.exitCode === null) await once(link, 'close');
        spaces.close();
      },
    };
  } catch (error) {
    spaces.close();
    throw error;
  }
}

/** `make wan-link` builds it. It ends with its stdin, so at the latest with this process. */
async function startLink(
  [a, b]: readonly [a: string, b: string],
  { delayMs, loss }: Wan,
): Promise<ChildProcess> {
  const command = findBuilt('wan-link', 'wan-link');
  const settings = ['--delay', `${delayMs}ms`, '--loss', `${loss}`, '--seed', '7'];
  const link = spawn(command, ['--a', a, '--b', b, ...settings], { stdio: ['pipe', 'pipe', 'inherit'] });
  const failed = once(link, 'close').then(
    () => Promise.reject(new Error('wan-link ended: its error is above')),
    (cause: unknown) => Promise.reject(new Error('wan-link could not be started', { cause })),
  );
  await Promise.race([once(createInterface(link.stdout), 'line'), failed]);
  return link;
}
