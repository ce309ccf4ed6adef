import { execFileSync } from 'node:child_process';

// A client in a network namespace of its own, which can be cut off as by a pulled cable: neither end's device goes down, and
// nothing is answered any more.
//
//     client 198.18.x.2 ---- bridge (a namespace too) ---- 198.18.x.1 this machine

export interface Cable {
  /** The address of this machine for the client. */
  readonly address: string;
  /** The command that runs another one beside the client. */
  readonly into: readonly string[];
  cut(): void;
  mend(): void;
  remove(): void;
}

/** Root is needed. */
export function layCable(): Cable {
  if (process.getuid?.() !== 0)
    throw new Error('this test makes network namespaces: run it as root (sudo make test-all)');
  const id = process.pid;
  const network = `198.18.${id % 256}`;
  const [client, bridge, device] = [`parley${id}-client`, `parley${id}-bridge`, `pl${id}`];
  const inBridge = (command: string): void => run(`nsenter --net=/run/netns/${bridge} ${command}`);
  const inClient = (command: string): void => run(`nsenter --net=/run/netns/${client} ${command}`);
  const remove = (): void => {
    for (const name of [client, bridge]) {
      try {
        run(`ip netns del ${name}`);
      } catch {
        // It was never made.
      }
    }
  };
  try {
    for (const name of [client, bridge]) run(`ip netns add ${name}`);
    run(`ip link add ${device} type veth peer name here netns ${bridge}`);
    run(`ip link add eth0 netns ${client} type veth peer name there netns ${bridge}`);
    inBridge('ip link add middle type bridge');
    for (const port of ['here', 'there']) inBridge(`ip link set ${port} master middle up`);
    inBridge('ip link set middle up');
    run(`ip addr add ${network}.1/24 dev ${device}`);
    run(`ip link set ${device} up`);
    inClient(`ip addr add ${network}.2/24 dev eth0`);
    inClient('ip link set eth0 up');
  } catch (error) {
    remove();
    throw error;
  }
  return {
    address: `${network}.1`,
    into: ['nsenter', `--net=/run/netns/${client}`],
    cut: () => inBridge('ip link set here nomaster'),
    mend: () => inBridge('ip link set here master middle'),
    remove,
  };
}

function run(command: string): void {
  const [program = '', ...args] = command.split(' ');
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
