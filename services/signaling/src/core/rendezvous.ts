/**
 * The preference of a meeting for a node: the node with the highest score wins, so a node that comes or goes moves only the meetings that it wins or
 * had. Source: Thaler and Ravishankar, "Using Name-Based Mappings to Increase Hit Rates" (1998), rendezvous hashing; FNV-1a with the finalizer of
 * MurmurHash3, by which every bit of the names affects the order.
 */
export function score(meeting: string, name: string): number {
  let hash = 0x811c9dc5;
  for (const symbol of `${name}/${meeting}`)
    hash = Math.imul(hash ^ (symbol.codePointAt(0) ?? 0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
