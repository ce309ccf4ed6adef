import { links } from './links.ts';
import { podNumbers, podUrl } from './pods.ts';
import { bringUp } from './regions.ts';
import { relayNumbers, relayUrl } from './relays.ts';
import { describeSite, edgeUrl, placeFromEnv, regionNames } from './site.ts';

try {
  const site = describeSite(placeFromEnv(process.env), process.env, { hasEdges: true });
  await bringUp(site);
  for (const region of regionNames) {
    console.log(`${region}: ${edgeUrl(site, region)}`);
    console.log(`    pods:   ${podNumbers.map((pod) => podUrl(site, region, pod)).join('  ')}`);
    console.log(`    relays: ${relayNumbers.map((relay) => relayUrl(site, region, relay)).join('  ')}`);
  }
  for (const { ends, delayMs } of links) console.log(`${ends.join(' - ')}: ${2 * delayMs} ms there and back`);
} catch (error) {
  console.error(`make regions: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
