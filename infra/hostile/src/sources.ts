/** Addresses to attack from. The edge counts by IPv4 /32, so each address of 127.0.0.0/8 is a network of its own. */

/** The second byte of the addresses of each group, so that no budget is shared by accident. */
export const NETS = { call: 20, newcomers: 21, attacks: 30, siege: 40 } as const;

const BYTE = 250;

/** The address of that number within a net. */
export function address(net: number, number: number): string {
  return `127.${net}.${Math.floor(number / BYTE) % BYTE}.${1 + (number % BYTE)}`;
}

/** One address after the other, none twice in a run. */
export function addresses(net: number): () => string {
  let next = 0;
  return () => {
    next += 1;
    return address(net, next);
  };
}
