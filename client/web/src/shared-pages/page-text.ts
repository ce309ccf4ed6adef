/** The text about the state of a page. */
import type { PagePeer, PageView, PagePath } from '@parley/sdk/pages/api';
import { formatDuration, formatCount } from '../streams/format.ts';

export const KEEP_OPEN_TEXT =
  'This page exists only while someone has it open. If you close this tab and no one else has the page, it is gone.';

/** The numbers of visitors that have the page, and of those that fetch it. */
export function countsText({ holders, readers }: Pick<PageView, 'holders' | 'readers'>): string {
  if (holders === null) return 'Counting…';
  const have =
    holders === 0 ? 'No one has it' : holders === 1 ? '1 has it' : `${formatCount(holders)} have it`;
  return readers === null || readers === 0 ? have : `${have}, ${formatCount(readers)} fetching`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB'] as const;

/** In binary units, as limits are stated: `16 MiB`. */
export function formatBinarySize(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const number = bytes / 1024 ** power;
  const digits = Number.isInteger(number) || number >= 100 ? 0 : 1;
  return `${number.toFixed(digits)} ${UNITS[power]}`;
}

export const PATH_LABELS: Readonly<Record<PagePath, string>> = {
  connecting: 'Connecting',
  direct: 'Directly',
  turn: 'Through TURN',
  relay: 'Through the relay',
};

/** The visitors that send a page, and their paths; `null` without visitors. `readable`: the page is not encrypted, so that the relay can read it. */
export function sourcesText(
  peers: readonly PagePeer[],
  { readable }: { readonly readable: boolean },
): string | null {
  const count = (path: PagePath): number => peers.filter((peer) => peer.path === path).length;
  const [direct, turn, relay] = [count('direct'), count('turn'), count('relay')];
  const all = direct + turn + relay;
  if (all === 0) return null;
  const paths = [
    direct > 0 && `${counted(direct, all)}directly from browser to browser`,
    turn > 0 && `${counted(turn, all)}through a TURN server, which cannot read it`,
    relay > 0 && `${counted(relay, all)}through Parley’s relay, which ${relayAccess(readable)}`,
  ].filter((text) => text !== false);
  return `From ${all === 1 ? 'one other' : `${all} others`}: ${paths.join('; ')}.`;
}

const counted = (count: number, all: number): string => (count === all ? '' : `${count} `);
const relayAccess = (readable: boolean): string =>
  readable ? 'can read it' : 'cannot read it, because it is encrypted';

/** A text alternative for the chart of holders. */
export function historyText(history: PageView['history'], now: number): string {
  const [first] = history;
  const last = history.at(-1);
  if (!first || !last) return 'No data yet.';
  const max = Math.max(...history.map(({ holders }) => holders));
  return `Over ${formatDuration(Math.max(0, now - first.at))}: at first ${first.holders}, at most ${max}, now ${last.holders}.`;
}
