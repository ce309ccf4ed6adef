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
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeNamespaces, SITE_ADDRESS } from './namespaces.ts';

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
  const spaces = makeNamespaces(NAMES);
  try {
    spaces.inside('public', 'ip link add bridge0 type bridge');
    spaces.inside('public', 'ip link set bridge0 up');
    attach('site', SITE_ADDRESS);
    attach('nat-a', '203.0.113.11');
    attach('nat-b', '203.0.113.12');
    house('a', '192.168.101');
    house('b', '192.168.102');
  } catch (error) {
    spaces.close();
    throw error;
  }
  return {
    inSite: spaces.into('site'),
    chromiumIn: (home) => spaces.chromiumIn(`home-${home}`),
    block(home, what) {
      const matches =
        what === 'udp' ? ['meta l4proto udp'] : [`udp dport ${what.port}`, `tcp dport ${what.port}`];
      for (const match of matches)
        spaces.inside(`nat-${home}`, `nft insert rule inet nat forward ${match} drop`);
    },
    close: () => spaces.close(),
  };

  /** Gives a namespace an address on the public segment. */
  function attach(name: Name, ip: string): void {
    spaces.wire(name, 'wan', { name: 'public', device: `to-${name}` });
    spaces.inside('public', `ip link set to-${name} master bridge0 up`);
    spaces.address(name, 'wan', `${ip}/24`);
  }

  /** A home behind its NAT. */
  function house(home: Home, net: string): void {
    const nat = `nat-${home}` as const;
    const inhabited = `home-${home}` as const;
    spaces.wire(nat, 'lan', { name: inhabited, device: 'eth0' });
    spaces.address(nat, 'lan', `${net}.1/24`);
    spaces.address(inhabited, 'eth0', `${net}.10/24`);
    spaces.inside(inhabited, `ip route add default via ${net}.1`);
    spaces.inside(nat, 'echo 1 > /proc/sys/net/ipv4/ip_forward');
    const rules = join(spaces.dir, `${nat}.nft`);
    writeFileSync(rules, natRules(kind));
    spaces.inside(nat, `nft -f ${rules}`);
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
