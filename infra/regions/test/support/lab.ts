/** Three regions for a file of tests, and bounds that hold in them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext } from 'node:test';
import { limitKey, type LimitName } from '@parley/protocol/limits';
import { eventually } from '../../../../services/signaling/test/support/deadline.ts';
import { join as joinRoom } from '../../../../services/signaling/test/support/client.ts';
import { startRegions, type Regions } from '../../src/regions.ts';
import { clockVariable, podNumbers } from '../../src/pods.ts';
import { regionNames, type RegionName } from '../../src/site.ts';
import { People } from './people.ts';

/** Only guards against a test that hangs. */
export const LINKED_WITHIN_MS = 20_000;

/**
 * The regions are there while the tests of this file run. `limits`: of the pods, where they are not the usual ones. `aheadMs`: by how much the clocks of a
 * region's pods are ahead. `edges`: for browsers.
 */
export function lab(
  limits: Partial<Record<LimitName, number>> = {},
  aheadMs: Partial<Record<RegionName, number>> = {},
  edges = false,
): () => Regions {
  const dir = mkdtempSync(join(tmpdir(), 'parley-regions-'));
  let regions: Regions | undefined;
  before(async () => {
    const settings = Object.entries(limits).map(([name, value]) => [limitKey(name as LimitName), value]);
    const clocks = Object.entries(aheadMs).map(([region, ms]) => [clockVariable(region as RegionName), ms]);
    const env = [...settings, ...clocks].map(([name, value]) => [name, String(value)]);
    regions = await startRegions(dir, Object.fromEntries(env) as NodeJS.ProcessEnv, { hasEdges: edges });
    await linked(regions);
    await keepRooms(regions);
  });
  after(async () => {
    await regions?.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  return () => {
    if (regions === undefined) throw new Error('the regions did not start');
    return regions;
  };
}

/** Two participants in each region, who see each other; all links work. */
export async function gather(t: TestContext, regions: Regions): Promise<People> {
  t.after(() => regions.heal());
  await linked(regions);
  const people = await People.meet(regions);
  t.after(() => people.leave());
  people.mark();
  return people;
}

export interface Gateways {
  readonly outbound_gateways?: Readonly<Record<string, { readonly connection: { readonly rtt?: string } }>>;
}

/** Resolves when each gateway server has a connection to each other region. */
export async function linked(regions: Regions): Promise<void> {
  for (const region of regionNames)
    for (const number of [1, 2])
      await eventually(
        `gateway server ${number} of ${region} is connected`,
        async () => {
          const { outbound_gateways: out = {} } = (await regions.ask(
            `${region}-gateway-${number}`,
            'gatewayz',
          )) as Gateways;
          return Object.keys(out).length === regionNames.length - 1;
        },
        LINKED_WITHIN_MS,
      );
}

/** Resolves when the pods have opened the stores of named rooms. */
async function keepRooms(regions: Regions): Promise<void> {
  for (const region of regionNames)
    for (const number of podNumbers)
      await eventually(
        `pod ${number} of ${region} reads its store`,
        async () => {
          const joined = await joinRoom(regions.pod(region, number), `unknown@${region}`);
          return !joined.ok && joined.error.code === 'ROOM_NOT_FOUND';
        },
        LINKED_WITHIN_MS,
      );
}
