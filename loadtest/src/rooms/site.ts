/** A complete stack with one relay or two, each on the first core within its limits; everything else is on the second. */
import { execFileSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { startStack } from '@parley/local/stack';
import { limitKey } from '@parley/protocol/limits';
import { cpuOf, residentKb } from '../cpu.ts';
import { EDGE_LIMITS } from '../limits.ts';
import { openCgroup, type Cgroup } from './cgroup.ts';
import type { RelayUse } from './outcome.ts';
import { MEMORY_BYTES, type Relays } from './plan.ts';

export interface Site {
  /** Of the edge. */
  readonly url: string;
  /** Of everything that runs here. */
  readonly pids: readonly number[];
  /** Of a processor, for each relay. */
  limit(cpu: number): void;
  /** Watches what relays use until closed. */
  watch(): Watch;
  close(): Promise<void>;
}

export interface Watch {
  /** Between two Unix times. */
  between(beganMs: number, endedMs: number): RelayUse[];
  close(): void;
}

/** All have one address, and whatever relays there are share every room; every other limit is as in production. */
const LIMITS: Readonly<Record<string, string>> = {
  [limitKey('media.participantsPerRelay')]: '1',
  [limitKey('address.joins')]: '1000000',
  [limitKey('address.reads')]: '1000000',
  ...EDGE_LIMITS,
};
const RELAY_CORE = 0;
const OTHER_CORE = 1;
/** Links between relays are dialled, and the one that left is forgotten, by then. */
const SETTLED_MS = 3000;
const LOOK_MS = 100;

const SECOND = 'relay-2';

interface Relay {
  readonly name: string;
  readonly pid: number;
  readonly cgroup: Cgroup | undefined;
}

/** `relay`: the path of the program. */
export async function startSite(
  dir: string,
  relays: Relays,
  { limited, relay }: { limited: boolean; relay: string },
): Promise<Site> {
  pin(process.pid, OTHER_CORE);
  const names = ['relay-1', SECOND].slice(0, relays);
  const cgroups = limited ? names.map((name) => openCgroup(`parley-${process.pid}-${name}`)) : [];
  const stack = await startStack({ dir, env: LIMITS, relay });
  if (relays === 1) stack.kill(SECOND, 'SIGTERM');
  const { processes, web } = stack.endpoints;
  const all = names.map((name, at): Relay => ({ name, pid: processes[name]?.pid ?? 0, cgroup: cgroups[at] }));
  for (const { pid, cgroup } of all) {
    pin(pid, RELAY_CORE);
    cgroup?.add(pid);
  }
  await delay(SETTLED_MS);
  return {
    // By its number: "localhost" may be two addresses, of which the edge has one.
    url: processes['envoy']?.url ?? web,
    pids: Object.entries(processes).flatMap(([name, { pid }]) =>
      relays === 1 && name === SECOND ? [] : [pid],
    ),
    limit(cpu) {
      for (const { cgroup } of all) cgroup?.limit({ cpu, memoryBytes: MEMORY_BYTES });
    },
    watch: () => watch(all),
    async close() {
      await stack.stop();
      for (const cgroup of cgroups) cgroup.close();
    },
  };
}

/** All threads of a process to one core. */
function pin(pid: number, core: number): void {
  execFileSync('taskset', ['-apc', String(core), String(pid)], { stdio: 'ignore' });
}

interface Look {
  readonly atMs: number;
  readonly relays: readonly { readonly cpuMs: number; readonly throttledMs: number; readonly mb: number }[];
}

function watch(relays: readonly Relay[]): Watch {
  const looks: Look[] = [];
  const look = (): void => {
    const one = ({ pid, cgroup }: Relay) => {
      const { userMs, systemMs } = cpuOf(pid);
      return {
        cpuMs: userMs + systemMs,
        throttledMs: cgroup?.throttledMs() ?? 0,
        mb: residentKb(pid) / 1024,
      };
    };
    looks.push({ atMs: Date.now(), relays: relays.map(one) });
  };
  look();
  const timer = setInterval(look, LOOK_MS);
  return {
    between(beganMs, endedMs) {
      const from = looks.findLast(({ atMs }) => atMs <= beganMs) ?? looks[0];
      const to = looks.find(({ atMs }) => atMs >= endedMs) ?? looks.at(-1);
      return relays.map(({ name }, at) => {
        const [before, after] = [from?.relays[at], to?.relays[at]];
        if (from === undefined || to === undefined || before === undefined || after === undefined)
          throw new Error(`${name} was not watched`);
        const wallMs = to.atMs - from.atMs;
        return {
          name,
          cpu: (after.cpuMs - before.cpuMs) / wallMs,
          throttled: (after.throttledMs - before.throttledMs) / wallMs,
          residentMb: after.mb,
        };
      });
    },
    close: () => clearInterval(timer),
  };
}
