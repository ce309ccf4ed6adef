/** Publishers and watchers in regions, each of whom reaches a relay over the network of its region: `parley-load media`. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { adHocRoomId, participantId } from '@parley/protocol/ids';
import type { Regions } from '@parley/regions/src/regions.ts';
import { relayNumbers, type RelayNumber } from '@parley/regions/src/relays.ts';
import { regionNames, type RegionName } from '@parley/regions/src/site.ts';
import { createTokens } from '@parley/signaling/adapters/tokens';
import { runGenerator } from '../streams/generator.ts';
import type { Outcome, Report } from './outcome.ts';
import { watchTraffic } from './traffic.ts';

/** A client: the region it is in, and the relay that it uses. */
export interface Seat {
  readonly in: RegionName;
  readonly relay: readonly [RegionName, RelayNumber];
}

export interface Load {
  /** Clients take these in turn. */
  readonly seats: readonly Seat[];
  /** The publishers' seats, where they are others. */
  readonly publishers?: readonly Seat[];
  /** How many clients there are, as flags of `parley-load media`. */
  readonly shape: readonly string[];
}

export interface Duration {
  readonly warmSeconds: number;
  readonly seconds: number;
}

/** Of each broadcast. */
export const VIDEO = { kbit: 300, fps: 15 } as const;
const TOKEN_MS = 3_600_000;

/** Clients at both relays of their region. */
export const nearest = (region: RegionName): Seat[] =>
  relayNumbers.map((relay) => ({ in: region, relay: [region, relay] }));

/** Runs a load to its end. `programs`: where parley-load is. */
export async function runLoad(
  regions: Regions,
  { seats, publishers = [], shape }: Load,
  { programs, warmSeconds, seconds }: Duration & { readonly programs: string },
): Promise<Outcome> {
  const room = `rooms/${adHocRoomId(randomBytes(16))}`;
  const token = signToken(regions, room);
  const urlOf = ({ in: region, relay }: Seat): string =>
    `${regions.media(...relay).url}?jwt=${token}#${regions.namespace(region)}`;
  const used = [...seats, ...publishers].map(({ relay }) => regions.media(...relay).hash);
  const traffic = watchTraffic(regions);
  try {
    const { answer, othersUse } = await runGenerator(
      programs,
      [...regions.pids(), process.pid],
      [
        'media',
        '--json=-',
        `--name=${room}`,
        `--bitrate=${VIDEO.kbit}`,
        `--fps=${VIDEO.fps}`,
        `--warm-up=${warmSeconds}`,
        `--seconds=${seconds}`,
        ...shape,
        ...seats.map((seat) => `--relay=${urlOf(seat)}`),
        ...publishers.map((seat) => `--publishers-relay=${urlOf(seat)}`),
        ...[...new Set(used)].map((hash) => `--hash=${hash}`),
      ],
      { isPinned: false },
    );
    const report = named(regions, answer as Report);
    return { ...report, traffic: traffic.between(report.beganMs, report.endedMs), othersUse };
  } finally {
    traffic.close();
  }
}

/** With names of regions instead of namespaces. */
function named(regions: Regions, report: Report): Report {
  const name = (namespace: string): string =>
    regionNames.find((region) => regions.namespace(region) === namespace) ?? namespace;
  const { paths, each, ...rest } = report;
  return {
    ...rest,
    paths: paths.map(({ from, to, ...figures }) => ({ from: name(from), to: name(to), ...figures })),
    each: each.map(({ rttMs }) => ({ rttMs })),
  };
}

/** A token of a region's own key, which all accept, for all broadcasts of the room. */
function signToken(regions: Regions, room: string): string {
  const tokens = createTokens(JSON.parse(readFileSync(regions.keysFile('eu'), 'utf8')));
  const all = [`${room}/**`];
  const iat = Math.floor(Date.now() / 1000);
  const sub = participantId(randomBytes(16));
  return tokens.signMedia({ sub, publish: all, subscribe: all, iat }, TOKEN_MS);
}
