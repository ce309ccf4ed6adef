/** The links between relays of different regions, apart from all else that crosses. */
import { execFileSync } from 'node:child_process';
import type { Regions } from '../../src/regions.ts';
import { regionNames } from '../../src/site.ts';

/** UDP ports of the relays' media (relays.ts). */
const PORTS = '8141-8142';

/** From now on relays of different regions do not reach each other; clients reach those of their own region. */
export function blockRelayLinks(regions: Regions): void {
  const rules = `table inet links {
    chain input {
      type filter hook input priority 0
      iifname != "lo" udp dport ${PORTS} drop
    }
  }`;
  nft(regions, ['-f', '-'], rules);
}

export function unblockRelayLinks(regions: Regions): void {
  nft(regions, ['flush', 'ruleset']);
}

/** In all regions. */
function nft(regions: Regions, args: readonly string[], input = ''): void {
  for (const region of regionNames) {
    const [enter, ...into] = regions.inside(region);
    execFileSync(enter, [...into, 'nft', ...args], { input });
  }
}
