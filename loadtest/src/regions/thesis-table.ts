/** The report of `make bench-regions THESIS=1` as people read it. */
import { aligned, digits, percent, type Column } from '../columns.ts';
import { verdictText } from '../verdict.ts';
import { THESIS, type ThesisRun } from './thesis.ts';

const COLUMNS: readonly Column<ThesisRun>[] = [
  ['topology', ({ topology }) => topology],
  ['people', ({ people }) => String(people)],
  ['RTT to the relay ms', ({ figures }) => digits(figures.relayRttMs)],
  ['RTT between people ms', ({ figures }) => digits(figures.rttMs)],
  ['of those in eu', ({ figures: { euRttMs } }) => (euRttMs === undefined ? '-' : digits(euRttMs))],
  ['jitter ms', ({ figures }) => digits(figures.jitterMs)],
  ['lost', ({ figures: { loss } }) => (loss === 0 ? '0' : `${(100 * loss).toFixed(2)} %`)],
  ['generator', ({ outcome }) => percent(outcome.generator.share)],
  ['others', ({ outcome }) => percent(outcome.othersUse)],
  ['verdict', ({ verdict }) => verdictText(verdict) ?? 'valid'],
];

export function thesisTable(runs: readonly ThesisRun[]): string {
  const lines = runs.map((run) => COLUMNS.map(([, cell]) => cell(run)));
  const { rttMs, jitterMs } = THESIS;
  return [
    ...aligned([COLUMNS.map(([head]) => head), ...lines]),
    `The thesis: RTT ${rttMs['relay in eu']} ms and jitter ${jitterMs['relay in eu']} ms with a relay in the EU, ${rttMs['relay in us']} and ${jitterMs['relay in us']} ms with Jitsi in the US.`,
  ].join('\n');
}
