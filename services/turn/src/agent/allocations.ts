import { readFileSync } from 'node:fs';

// One line per socket; its second column is the local address, `0100007F:1F90`, both parts in hexadecimal.
const LOCAL = /^\s*\d+: [0-9A-F]+:(?<port>[0-9A-F]{4}) /gm;

/**
 * Counts UDP sockets that are bound to relay ports; each is an allocation. This works for every coturn: some versions in use have no metrics, and
 * none reports the end of a single allocation.
 */
export function countAllocations(
  minPort: number,
  maxPort: number,
  tables: readonly string[] = udpTables(),
): number {
  const ports = tables.flatMap((table) =>
    [...table.matchAll(LOCAL)].map(({ groups }) => Number.parseInt(groups?.['port'] ?? '', 16)),
  );
  return new Set(ports.filter((port) => port >= minPort && port <= maxPort)).size;
}

function udpTables(): string[] {
  return ['/proc/net/udp', '/proc/net/udp6'].map((path) => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      // A node without IPv6 has no such table.
      return '';
    }
  });
}
