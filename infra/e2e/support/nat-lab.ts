/**
 * Two homes behind NATs and a public segment between them, in network namespaces of their own:
 *
 *     home-a 192.168.101.10 -- nat-a 203.0.113.11 --+
 *                                                   +-- site 203.0.113.2 (the whole of Parley)
 *     home-b 192.168.102.10 -- nat-b 203.0.113.12 --+
 *
 * `port-restricted` NATs keep a port for all destinations, so that STUN is enough; `symmetric` ones take a random port for each, so that
 * only TURN gets through. Nothing leaves this machine: none of the namespaces has a way out.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromiumPath } from './browsers.ts';

export const SITE_ADDRESS = '203.0.113.2';
export type NatKind = 'port-restricted' | 'symmetric';
export type Home = 'a' | 'b';

export interface NatLab {
  readonly site: string;
  /** A program that starts Chromium in that home. */
  chromiumIn(home: Home): string;
  /** From now on the home's NAT lets no packet of this kind out. */
  block(home: Home, what: 'udp' | { readonly port: number }): void;
  close(): void;
}

export function startNatLab(kind: NatKind): NatLab {
  if (process.getuid?.() !== 0)
    throw new Error('the NAT tests make network namespaces: run them as root (sudo make test)');
  const prefix = `parley${process.pid}`;
  const dir = mkdtempSync(join(tmpdir(), 'parley-nat-'));
  const names = ['public', 'site', 'nat-a', 'nat-b', 'home-a', 'home-b'];
  const ns = (name: string): string => `${prefix}-${name}`;
  const within = (name: string, ...command: string[]): void => run('ip', '-n', ns(name), ...command);
  const close = (): void => {
    for (const name of names) tryRun('ip', 'netns', 'del', ns(name));
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    for (const name of names) {
      run('ip', 'netns', 'add', ns(name));
      within(name, 'link', 'set', 'lo', 'up');
    }
    within('public', 'link', 'add', 'bridge0', 'type', 'bridge');
    within('public', 'link', 'set', 'bridge0', 'up');
    attach('site', SITE_ADDRESS);
    for (const home of ['a', 'b'] as const) {
      attach(`nat-${home}`, home === 'a' ? '203.0.113.11' : '203.0.113.12');
      house(home);
    }
  } catch (error) {
    close();
    throw error;
  }
  return {
    site: ns('site'),
    chromiumIn(home) {
      const wrapper = join(dir, `chromium-${home}`);
      writeFileSync(wrapper, `#!/bin/sh\nexec ip netns exec ${ns(`home-${home}`)} ${chromiumPath} "$@"\n`, {
        mode: 0o755,
      });
      return wrapper;
    },
    block(home, what) {
      const matches =
        what === 'udp'
          ? [['meta', 'l4proto', 'udp']]
          : ['udp', 'tcp'].map((kind) => [kind, 'dport', String(what.port)]);
      for (const match of matches) {
        run(
          'ip',
          'netns',
          'exec',
          ns(`nat-${home}`),
          'nft',
          'insert',
          'rule',
          'inet',
          'nat',
          'forward',
          ...match,
          'drop',
        );
      }
    },
    close,
  };

  /** Gives a namespace an address on the public segment. */
  function attach(name: string, address: string): void {
    run(
      'ip',
      'link',
      'add',
      'wan',
      'netns',
      ns(name),
      'type',
      'veth',
      'peer',
      'name',
      `to-${name}`,
      'netns',
      ns('public'),
    );
    within('public', 'link', 'set', `to-${name}`, 'master', 'bridge0', 'up');
    within(name, 'addr', 'add', `${address}/24`, 'dev', 'wan');
    within(name, 'link', 'set', 'wan', 'up');
  }

  function house(home: Home): void {
    const net = home === 'a' ? '192.168.101' : '192.168.102';
    run(
      'ip',
      'link',
      'add',
      'lan',
      'netns',
      ns(`nat-${home}`),
      'type',
      'veth',
      'peer',
      'name',
      'eth0',
      'netns',
      ns(`home-${home}`),
    );
    within(`nat-${home}`, 'addr', 'add', `${net}.1/24`, 'dev', 'lan');
    within(`nat-${home}`, 'link', 'set', 'lan', 'up');
    within(`home-${home}`, 'addr', 'add', `${net}.10/24`, 'dev', 'eth0');
    within(`home-${home}`, 'link', 'set', 'eth0', 'up');
    within(`home-${home}`, 'route', 'add', 'default', 'via', `${net}.1`);
    run('ip', 'netns', 'exec', ns(`nat-${home}`), 'sysctl', '-qw', 'net.ipv4.ip_forward=1');
    const rules = join(dir, `nat-${home}.nft`);
    writeFileSync(rules, natRules(kind));
    run('ip', 'netns', 'exec', ns(`nat-${home}`), 'nft', '-f', rules);
  }
}

/** What a home router does: hides the home behind its address, and lets in only what was asked for. */
const natRules = (kind: NatKind): string => `
table inet nat {
  chain out {
    type nat hook postrouting priority 100;
    oifname "wan" masquerade ${kind === 'symmetric' ? 'fully-random' : ''}
  }
  chain forward {
    type filter hook forward priority 0; policy accept;
    iifname "wan" ct state new drop
  }
  chain in {
    type filter hook input priority 0; policy accept;
    iifname "wan" ct state new drop
  }
}
`;

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

function tryRun(command: string, ...args: string[]): void {
  try {
    run(command, ...args);
  } catch {
    // It was never made.
  }
}
