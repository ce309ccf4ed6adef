/** What is known of a page, in words. */
import type { PagePeer, PageView, PagePath } from '@parley/sdk/pages/api';
import { duration, grouped } from '../streams/amounts.ts';

export const KEPT_OPEN =
  'This page exists only while someone has it open. If you close this tab and no one else has the page, it is gone.';

/** How many have it, and how many are on their way. */
export function standing({ holders, readers }: Pick<PageView, 'holders' | 'readers'>): string {
  if (holders === null) return 'Counting…';
  const have = holders === 0 ? 'No one has it' : holders === 1 ? '1 has it' : `${grouped(holders)} have it`;
  return readers === null || readers === 0 ? have : `${have}, ${grouped(readers)} fetching`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB'] as const;

/** As limits are said: `16 MiB`. */
export function amount(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const number = bytes / 1024 ** power;
  const digits = Number.isInteger(number) || number >= 100 ? 0 : 1;
  return `${number.toFixed(digits)} ${UNITS[power]}`;
}

export const WAY: Readonly<Record<PagePath, string>> = {
  connecting: 'Connecting',
  direct: 'Directly',
  turn: 'Through TURN',
  relay: 'Through the relay',
};

/** The visitors that send a page, and their paths; `null` without visitors. `open`: not encrypted, so that the relay could read it. */
export function sources(peers: readonly PagePeer[], { open }: { readonly open: boolean }): string | null {
  const count = (way: PagePath): number => peers.filter((peer) => peer.path === way).length;
  const [direct, turn, relay] = [count('direct'), count('turn'), count('relay')];
  const all = direct + turn + relay;
  if (all === 0) return null;
  const ways = [
    direct > 0 && `${named(direct, all)}directly from browser to browser`,
    turn > 0 && `${named(turn, all)}through a TURN server, which cannot read it`,
    relay > 0 && `${named(relay, all)}through Parley’s relay, which ${relayReads(open)}`,
  ].filter((words) => words !== false);
  return `From ${all === 1 ? 'one other' : `${all} others`}: ${ways.join('; ')}.`;
}

const named = (some: number, all: number): string => (some === all ? '' : `${some} `);
const relayReads = (open: boolean): string =>
  open ? 'can read it' : 'cannot read it, because it is encrypted';

/** A text alternative for the chart of holders. */
export function historyWords(history: PageView['history'], now: number): string {
  const [first] = history;
  const last = history.at(-1);
  if (!first || !last) return 'No data yet.';
  const most = Math.max(...history.map(({ holders }) => holders));
  return `Over ${duration(Math.max(0, now - first.at))}: at first ${first.holders}, at most ${most}, now ${last.holders}.`;
}
