/** The regions of the installation, as the operator lists them and clients learn them. SPEC rule REG-7. */
import { decode } from '@parley/protocol/decode';
import { MAX_REGIONS, Region, type RegionList } from '@parley/protocol/http';
import type { RegionId } from '@parley/protocol/ids';

/**
 * `entries`: `name=origin` each, as `eu=https://eu.example.com`; none where there is one region. `own`: the name of the region of this pod.
 * Throws an Error that names an invalid entry.
 */
export function regionsOf(entries: readonly string[], own: string): Region[] {
  const regions = entries.map(regionOf);
  const names = new Set(regions.map(({ name }) => name));
  const urls = new Set(regions.map(({ url }) => url));
  if (regions.length > MAX_REGIONS)
    throw new Error(`there are ${regions.length} regions, of at most ${MAX_REGIONS}`);
  if (names.size < regions.length) throw new Error('two regions have one name');
  if (urls.size < regions.length) throw new Error('two regions have one address');
  if (regions.length > 0 && !names.has(own))
    throw new Error(`the region of this pod, ${own}, is not in the list`);
  return regions;
}

function regionOf(entry: string): Region {
  const at = entry.indexOf('=');
  const region = { name: entry.slice(0, Math.max(at, 0)), url: entry.slice(at + 1).replace(/\/$/, '') };
  const origin = URL.parse(region.url)?.origin;
  if (!decode(Region, region).ok || origin !== region.url)
    throw new Error(`${entry} is no name=origin, such as eu=https://eu.example.com`);
  return region;
}

interface Known {
  /** That of this pod. */
  readonly region: string;
  readonly regions: readonly Region[];
}

export const otherRegions = ({ region, regions }: Known): Region[] =>
  regions.filter(({ name }) => name !== region);

/** For joins and welcomes; `undefined` where there is only one region, of which a client needs no list. */
export function severalRegions({ region, regions }: Known): RegionList | undefined {
  return regions.length > 1 ? { region, regions: [...regions] } : undefined;
}

/** For `GET /v1/regions`: never empty. `origin`: the one under which the client reaches this pod. */
export function regionList({ region, regions }: Known, origin: string): RegionList {
  return { region, regions: regions.length > 0 ? [...regions] : [{ name: region, url: origin }] };
}

/** Also for regions that were never heard, or that were forgotten: nothing is known of them but that they should be there. */
export function allPeersBeyond(known: Known, heard: ReadonlyMap<RegionId, number>): Map<RegionId, number> {
  return new Map([...otherRegions(known).map(({ name }) => [name, 0] as const), ...heard]);
}
