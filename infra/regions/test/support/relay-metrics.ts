/** Metrics of the media relays of regions. */
import { eventually } from '../../../../services/signaling/test/support/deadline.ts';
import { podNumbers } from '../../src/pods.ts';
import type { Regions } from '../../src/regions.ts';
import { relayNumbers } from '../../src/relays.ts';
import { regionNames, type RegionName } from '../../src/site.ts';

const ASKED_MS = 2000;
const LINKED_WITHIN_MS = 20_000;

/** The sum of the samples of `parley_media_{name}` at the relays of a region whose labels contain each of these. */
export async function mediaMetric(
  regions: Regions,
  region: RegionName,
  name: string,
  ...labels: readonly string[]
): Promise<number> {
  const sum = await readMediaMetrics(regions, region);
  return sum(name, ...labels);
}

/** The same of several metrics, which are read once. */
export async function readMediaMetrics(
  regions: Regions,
  region: RegionName,
): Promise<(name: string, ...labels: readonly string[]) => number> {
  const texts = await Promise.all(relayNumbers.map((relay) => metricsOf(regions.relay(region, relay))));
  const lines = texts.flatMap((text) => text.split('\n'));
  return (name, ...labels) => {
    const matches = (line: string): boolean =>
      /^parley_media_([a-z_]+)[{ ]/.exec(line)?.[1] === name && labels.every((label) => line.includes(label));
    const values = lines.filter(matches).map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
    return values.reduce((sum, value) => sum + value, 0);
  };
}

/** Resolves when pods know all relays of their region, and each origin has a link to each other, of its region and of others. */
export async function relaysAreLinked(regions: Regions): Promise<void> {
  for (const region of regionNames) {
    for (const pod of podNumbers)
      await eventually(
        `pod ${pod} of ${region} knows the relays`,
        async () =>
          (await metricsOf(regions.pod(region, pod))).includes(
            `\nparley_media_relays ${relayNumbers.length}\n`,
          ),
        LINKED_WITHIN_MS,
      );
  }
  await originsAreLinked(regions);
}

/** Resolves when each origin has a link to each other. */
export async function originsAreLinked(regions: Regions): Promise<void> {
  for (const region of regionNames)
    await eventually(`the relays of ${region} are linked`, () => isLinked(regions, region), LINKED_WITHIN_MS);
}

async function isLinked(regions: Regions, region: RegionName): Promise<boolean> {
  const dialled = await mediaMetric(regions, region, 'links_up');
  const accepted = await mediaMetric(regions, region, 'sessions', 'link"');
  const relays = relayNumbers.length * regionNames.length;
  return dialled + accepted === relayNumbers.length * (relays - 1);
}

async function metricsOf(url: string): Promise<string> {
  const answer = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(ASKED_MS) });
  return answer.text();
}
