/** Searches the memory of a process for given bytes, from outside of the process. Linux; the same user or root. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const READ_BYTES = 4 * 1024 * 1024;
const READABLE = /^([0-9a-f]+)-([0-9a-f]+) r\S{3} \S+ \S+ \S+\s*(.*)$/;
/** Of the kernel: it cannot be read, or holds nothing of the process's own. */
const KERNELS = /^\[v(?:var|syscall|dso)/;

/** How often each of these byte strings occurs in the memory of the process now. */
export function countInMemory(pid: number, wanted: readonly Buffer[]): number[] {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const counts = wanted.map(() => 0);
  // What lies across two reads is found in the second.
  const overlap = Math.max(...wanted.map(({ length }) => length)) - 1;
  const buffer = Buffer.alloc(READ_BYTES + overlap);
  try {
    for (const { from, to } of regionsOf(pid)) {
      let kept = 0;
      for (let at = from; at < to; at += READ_BYTES) {
        const read = readAt(memory, buffer, kept, Math.min(READ_BYTES, to - at), at);
        if (read === 0) break;
        const seen = buffer.subarray(0, kept + read);
        for (const [index, bytes] of wanted.entries()) {
          // What ended within the overlap was counted before.
          for (let found = seen.indexOf(bytes); found >= 0; found = seen.indexOf(bytes, found + 1)) {
            if (found + bytes.length > kept) counts[index] = (counts[index] ?? 0) + 1;
          }
        }
        kept = Math.min(overlap, seen.length);
        seen.copyWithin(0, seen.length - kept);
      }
    }
  } finally {
    closeSync(memory);
  }
  return counts;
}

function regionsOf(pid: number): { from: number; to: number }[] {
  const lines = readFileSync(`/proc/${pid}/maps`, 'latin1').split('\n');
  return lines.flatMap((line) => {
    const [, from, to, name = ''] = READABLE.exec(line) ?? [];
    if (from === undefined || to === undefined || KERNELS.test(name)) return [];
    return [{ from: Number.parseInt(from, 16), to: Number.parseInt(to, 16) }];
  });
}

/** Regions go while they are read. */
function readAt(memory: number, buffer: Buffer, into: number, size: number, at: number): number {
  try {
    return readSync(memory, buffer, into, size, at);
  } catch {
    return 0;
  }
}
