/** Three regions of their own, whose origins are linked, without signaling: clients name their relay. */
import { join } from 'node:path';
import { startRegions, type Regions } from '@parley/regions/src/regions.ts';
import { originsAreLinked } from '@parley/regions/test/support/relay-metrics.ts';
import { QUIET_CORES } from '../verdict.ts';
import { runLoad, type Duration, type Load } from './load.ts';
import type { Outcome } from './outcome.ts';

export interface Site {
  readonly regions: Regions;
  /** Runs a load, again while other programs used the machine, whatever its figures. */
  run(load: Load, duration: Duration): Promise<Outcome>;
  close(): Promise<void>;
}

export interface SiteOptions {
  /** Where the Rust programs are. */
  readonly programs: string;
  /** How often a load is run again at most. */
  readonly repeats: number;
}

export async function startSite(dir: string, { programs, repeats }: SiteOptions): Promise<Site> {
  const regions = await startRegions(join(dir, 'regions'), {}, { programs, hasPods: false });
  await originsAreLinked(regions);
  return {
    regions,
    async run(load, duration) {
      for (let tries = 1; ; tries += 1) {
        const outcome = await runLoad(regions, load, { programs, ...duration });
        if (outcome.othersUse <= QUIET_CORES || tries > repeats) return outcome;
        console.log('  the machine was not quiet: once more');
      }
    },
    close: () => regions.stop(),
  };
}
