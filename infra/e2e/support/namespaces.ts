/** Network namespaces, wired to each other as a test wants. Nothing leaves this machine: none of them has a way out. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromiumPath } from './browsers.ts';

/** Where the whole of Parley is, in the namespace that a lab has for it. */
export const SITE_ADDRESS = '203.0.113.2';

export interface Namespaces<Name extends string> {
  /** For files that go with them. */
  readonly dir: string;
  /** What the system calls it. */
  nameOf(name: Name): string;
  /** The command that runs another one there. */
  into(name: Name): readonly string[];
  /** Runs a shell's command there; throws what it complains of. */
  inside(name: Name, command: string): void;
  /** A cable with a device at either end. */
  wire(name: Name, device: string, peer: { readonly name: Name; readonly device: string }): void;
  /** Gives a device its address, and no other one, and starts it. */
  address(name: Name, device: string, address: string): void;
  /** A program that starts Chromium there. */
  chromiumIn(name: Name): string;
  close(): void;
}

/** Each with its own loopback device. Root is needed. */
export function makeNamespaces<const Name extends string>(names: readonly Name[]): Namespaces<Name> {
  if (process.getuid?.() !== 0)
    throw new Error('these tests make network namespaces: run them as root (sudo make test)');
  const dir = mkdtempSync(join(tmpdir(), 'parley-lab-'));
  const nameOf = (name: Name): string => `parley${process.pid}-${name}`;
  // Not `ip netns exec`, which remounts /sys and fails where / is no mount point, as in a chroot.
  const into = (name: Name): string[] => ['nsenter', `--net=/run/netns/${nameOf(name)}`];
  const inside = (name: Name, command: string): void => run(...into(name), 'sh', '-c', command);
  const close = (): void => {
    for (const name of names) tryRun('ip', 'netns', 'del', nameOf(name));
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    for (const name of names) {
      run('ip', 'netns', 'add', nameOf(name));
      inside(name, 'ip link set lo up');
    }
  } catch (error) {
    close();
    throw error;
  }
  return {
    dir,
    nameOf,
    into,
    inside,
    wire(name, device, peer) {
      const [here, there] = [nameOf(name), nameOf(peer.name)];
      run(
        ...`ip link add ${device} netns ${here} type veth peer name ${peer.device} netns ${there}`.split(' '),
      );
    },
    address(name, device, address) {
      // An IPv6 address of the link would be complete two seconds later, and Chromium then ends what it loads: ERR_NETWORK_CHANGED.
      inside(name, `ip link set ${device} addrgenmode none`);
      inside(name, `ip addr add ${address} dev ${device}`);
      inside(name, `ip link set ${device} up`);
    },
    chromiumIn(name) {
      const wrapper = join(dir, `chromium-${name}`);
      const command = [...into(name), chromiumPath].join(' ');
      writeFileSync(wrapper, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
      return wrapper;
    },
    close,
  };
}

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
