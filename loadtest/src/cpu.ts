/** CPU and memory of processes, from /proc. */
import { readFileSync } from 'node:fs';

export interface Cpu {
  readonly userMs: number;
  readonly systemMs: number;
}

/** USER_HZ: 100 on every Linux, whatever the kernel's own tick. */
const MS_PER_TICK = 10;

/** utime and stime of all threads of a process. */
export function cpuOf(pid: number): Cpu {
  return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}

export function parseStat(stat: string): Cpu {
  // The name in parentheses may hold anything; what follows the last one is numbers. utime is field 14, stime 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { userMs: Number(fields[11]) * MS_PER_TICK, systemMs: Number(fields[12]) * MS_PER_TICK };
}

/** Anonymous memory a process holds: heap and buffers without the pages of the program itself. */
export const anonymousKb = (pid: number): number => statusKb(pid, 'RssAnon');

/** All memory of a process that is in use. */
export const residentKb = (pid: number): number => statusKb(pid, 'VmRSS');

function statusKb(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
}

/** Time all cores were busy since the start of the machine, and time the hypervisor took away. */
export function machineBusyMs(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softirq + steal) * MS_PER_TICK;
}
