/** The lab's cgroups: one for each node, and one for the people, whose browsers run on the same machine. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = '/sys/fs/cgroup';
const people = 'parley-people';
/** The processor time of the people, as a multiple of that of a node, where there is not enough for all. */
const PEOPLE_TO_NODE = 4;
/** Of a group that says nothing: `cpu.shares` in version 1, `cpu.weight` in version 2. */
const USUAL = { 'cpu.shares': 1024, 'cpu.weight': 100 } as const;

/** Makes a cgroup of this name in every hierarchy. */
export function makeCgroup(name: string): void {
  for (const hierarchy of hierarchies()) {
    const cgroup = join(hierarchy, name);
    mkdirSync(cgroup, { recursive: true });
    // In cgroup version 1 a new set of processors is empty.
    for (const set of ['cpuset.cpus', 'cpuset.mems']) {
      if (hierarchy.endsWith('/cpuset')) writeFileSync(join(cgroup, set), readFileSync(join(hierarchy, set)));
    }
  }
}

/** Removes the cgroup and all in it. */
export function removeCgroup(name: string): void {
  // In a hybrid set-up containers also leave groups in the hierarchy without limits.
  for (const hierarchy of [...hierarchies(), join(root, 'unified')]) removeTree(join(hierarchy, name));
}

/**
 * Makes the group that the browsers of tests join. People have machines of their own: pods that start on a node must not stop the pictures of a
 * browser. Without it one node that starts a pod has as much of the machine as a browser.
 */
export function makePeople(): void {
  makeCgroup(people);
  for (const hierarchy of hierarchies()) {
    for (const [file, usual] of Object.entries(USUAL)) {
      const share = join(hierarchy, people, file);
      if (existsSync(share)) writeFileSync(share, String(usual * PEOPLE_TO_NODE));
    }
  }
}

/** Removes the group of the people. It stays where a command of theirs still runs. */
export function removePeople(): void {
  try {
    removeCgroup(people);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
  }
}

function removeTree(cgroup: string): void {
  if (!existsSync(cgroup)) return;
  for (const entry of readdirSync(cgroup, { withFileTypes: true })) {
    if (entry.isDirectory()) removeTree(join(cgroup, entry.name));
  }
  rmdirSync(cgroup);
}

/** The one hierarchy of cgroup version 2, or those of version 1, one for each kind of resource. */
function hierarchies(): string[] {
  if (existsSync(join(root, 'cgroup.controllers'))) return [root];
  const names = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return names.filter(({ name }) => name !== 'unified').map(({ name }) => join(root, name));
}
