/** `node link.ts cut eu us`: cuts and heals links between the regions of `make regions`. */
import { cut, cutOneWay, heal } from './links.ts';
import { isRegion, placeFromEnv, type Place, type RegionName } from './site.ts';

const USAGE = `usage: node infra/regions/src/link.ts
  cut REGION [REGION]           no packet gets through, between the two or between one and all others
  cut-one-way FROM [TO]         no packet gets from the one to the other, or to all others
  heal [REGION] [REGION]        all packets get through`;

type Change = (place: Place, a: RegionName, b?: RegionName) => void;

const [command, ...named] = process.argv.slice(2);
const regions = named.filter(isRegion);
try {
  change(command)(placeFromEnv(process.env));
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

function change(command: string | undefined): (place: Place) => void {
  const [a, b] = regions;
  if (regions.length < named.length) throw new Error(USAGE);
  if (command === 'heal') return (place) => heal(place, a, b);
  const found: Change | undefined =
    command === 'cut' ? cut : command === 'cut-one-way' ? cutOneWay : undefined;
  if (found === undefined || a === undefined) throw new Error(USAGE);
  return (place) => found(place, a, b);
}
