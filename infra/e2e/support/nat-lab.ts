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
  /** The command that runs another one in the site's namespace. */
  readonly inSite: readonly string[];
  /** A program that starts Chromium in that home. */
  chromiumIn(home: Home): string;
  /** From now on the home's NAT lets no packet of this kind out. */
  block(home: Home, what: 'udp' | { readonly port: number }): void;
  close(): void;
}

const NAMES = ['public', 'site', 'nat-a', 'nat-b', 'home-a', 'home-b'] as const;
type Name = (typeof NAMES)[number];

export function startNatLab(kind: NatKind): NatLab {
  if (process.getuid?.() !== 0)
    throw new Error('the NAT tests make network namespaces: run them as root (sudo make test)');
  const dir = mkdtempSync(join(tmpdir(), 'parley-nat-'));
  const ns = (name: Name): string => `parley${process.pid}-${name}`;
  // Not `ip netns exec`, which remounts /sys and fails where / is no mount point, as in a chroot.
  const into = (name: Name): string[] => ['nsenter', `--net=/run/netns/${ns(name)}`];
  const inside = (name: Name, command: string): void => run(...into(name), ...command.split(' '));
  const close = (): void => {
    for (const name of NAMES) tryRun('ip', 'netns', 'del', ns(name));
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    for (const name of NAMES) {
      run('ip', 'netns', 'add', ns(name));
      inside(name, 'ip link set lo up');
    }
    inside('public', 'ip link add bridge0 type bridge');
    inside('public', 'ip link set bridge0 up');
    attach('site', SITE_ADDRESS);
    attach('nat-a', '203.0.113.11');
    attach('nat-b', '203.0.113.12');
    house('a', '192.168.101');
    house('b', '192.168.102');
  } catch (error) {
    close();
    throw error;
  }
  return {
    inSite: into('site'),
    chromiumIn(home) {
      const wrapper = join(dir, `chromium-${home}`);
      const command = [...into(`home-${home}`), chromiumPath].join(' ');
      writeFileSync(wrapper, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
      return wrapper;
    },
    block(home, what) {
      const matches =
        what === 'udp' ? ['meta l4proto udp'] : [`udp dport ${what.port}`, `tcp dport ${what.port}`];
      for (const match of matches) inside(`nat-${home}`, `nft insert rule inet nat forward ${match} drop`);
    },
    close,
  };

  /** Gives a namespace an address on the public segment. */
  function attach(name: Name, address: string): void {
    wire(name, 'wan', 'public', `to-${name}`);
    inside('public', `ip link set to-${name} master bridge0 up`);
    inside(name, `ip addr add ${address}/24 dev wan`);
    inside(name, 'ip link set wan up');
  }

  /** A home behind its NAT. */
  function house(home: Home, net: string): void {
    const nat = `nat-${home}` as const;
    const inhabited = `home-${home}` as const;
    wire(nat, 'lan', inhabited, 'eth0');
    inside(nat, `ip addr add ${net}.1/24 dev lan`);
    inside(nat, 'ip link set lan up');
    inside(inhabited, `ip addr add ${net}.10/24 dev eth0`);
    inside(inhabited, 'ip link set eth0 up');
    inside(inhabited, `ip route add default via ${net}.1`);
    run(...into(nat), 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward');
    const rules = join(dir, `${nat}.nft`);
    writeFileSync(rules, natRules(kind));
    inside(nat, `nft -f ${rules}`);
  }

  function wire(a: Name, aDevice: string, b: Name, bDevice: string): void {
    const link = `ip link add ${aDevice} netns ${ns(a)} type veth peer name ${bDevice} netns ${ns(b)}`;
    run(...link.split(' '));
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

function run(...[command = '', ...args]: string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

function tryRun(...command: string[]): void {
  try {
    run(...command);
  } catch {
    // It was never made.
  }
}
