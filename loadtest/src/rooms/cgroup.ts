/** A process group that may have so much processor time and memory: Linux's cgroups, version 1 or 2. Only root may make one. */
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

export interface Cgroup {
  /** All threads of a process, and what it starts from here on. */
  add(pid: number): void;
  /** Of one processor. */
  limit(share: { readonly cpu: number; readonly memoryBytes: number }): void;
  /** How long it wanted to run and was not let, since it was made. */
  throttledMs(): number;
  /** Its processes have to have ended. */
  close(): void;
}

export const CGROUPS = '/sys/fs/cgroup';
/** Short: a process that has used its share waits for the next period, and delays its frames. */
export const PERIOD_US = 10_000;

/** Throws a sentence where this machine or this user has none. */
export function openCgroup(name: string, root = CGROUPS): Cgroup {
  try {
    return isVersion2(root) ? version2(name, root) : version1(name, root);
  } catch (cause) {
    throw new Error(
      `relays cannot be limited: ${root} has to hold the cgroup controllers cpu and memory (version 1 or 2), and this user, root, has to be able to write there`,
      { cause },
    );
  }
}

const isVersion2 = (root: string): boolean => {
  const path = join(root, 'cgroup.controllers');
  return existsSync(path) && /\bcpu\b.*\bmemory\b/.test(readFileSync(path, 'utf8'));
};

function version2(name: string, root: string): Cgroup {
  writeFileSync(join(root, 'cgroup.subtree_control'), '+cpu +memory');
  const group = made(join(root, name));
  return {
    add: (pid) => group.write('cgroup.procs', pid),
    limit({ cpu, memoryBytes }) {
      group.write('cpu.max', `${Math.round(cpu * PERIOD_US)} ${PERIOD_US}`);
      group.write('memory.max', memoryBytes);
    },
    throttledMs: () => group.stat('cpu.stat', 'throttled_usec') / 1e3,
    close: () => rmdirSync(group.path),
  };
}

function version1(name: string, root: string): Cgroup {
  for (const controller of ['cpu', 'memory']) accessSync(join(root, controller), constants.W_OK);
  const cpu = made(join(root, 'cpu', name));
  const memory = made(join(root, 'memory', name));
  return {
    add(pid) {
      for (const group of [cpu, memory]) group.write('cgroup.procs', pid);
    },
    limit(share) {
      cpu.write('cpu.cfs_period_us', PERIOD_US);
      cpu.write('cpu.cfs_quota_us', Math.round(share.cpu * PERIOD_US));
      memory.write('memory.limit_in_bytes', share.memoryBytes);
    },
    throttledMs: () => cpu.stat('cpu.stat', 'throttled_time') / 1e6,
    close() {
      for (const group of [cpu, memory]) rmdirSync(group.path);
    },
  };
}

function made(path: string) {
  mkdirSync(path, { recursive: true });
  return {
    path,
    write: (file: string, value: string | number): void => writeFileSync(join(path, file), String(value)),
    stat: (file: string, field: string): number =>
      Number(new RegExp(`^${field} (\\d+)$`, 'm').exec(readFileSync(join(path, file), 'utf8'))?.[1]),
  };
}
