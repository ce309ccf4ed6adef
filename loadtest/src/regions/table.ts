/** The report of `make bench-regions` as people read it. */
import { aligned, digits, percent, type Column } from '../columns.ts';
import type { Panel } from '../plot.ts';
import { barOf } from '../plot.ts';
import { verdictText, type Verdict } from '../verdict.ts';
import { lossOf, type Outcome, type Path } from './outcome.ts';
import type { Scenario } from './scenarios.ts';
import type { Topic } from './topic.ts';
import { copiesOf, networkMs, pinnedCopies, wireCopiesOf } from './verdict.ts';

/** A load, by regions or pinned to one relay. */
export interface Row {
  readonly scenario: Scenario;
  readonly isControl: boolean;
  readonly outcome: Outcome;
  readonly verdict: Verdict;
}

const nameOf = ({ scenario, isControl }: Row): string =>
  isControl ? '  control: one relay for all' : scenario.name;

function copiesIn({ scenario: { ocean }, isControl, outcome }: Row): number | undefined {
  if (ocean === undefined) return undefined;
  return (isControl ? pinnedCopies : copiesOf)(outcome, ocean);
}

const COLUMNS: readonly Column<Row>[] = [
  ['', nameOf],
  ['copies', (row) => text(copiesIn(row))],
  ['on the wire', ({ scenario: { ocean }, outcome }) => text(ocean && wireCopiesOf(outcome, ocean))],
  ['frames', ({ outcome }) => String(outcome.delivered)],
  ['lost', ({ outcome }) => `${(100 * lossOf(outcome)).toFixed(2)} %`],
  ['generator', ({ outcome }) => percent(outcome.generator.share)],
  ['others', ({ outcome }) => percent(outcome.othersUse)],
  ['verdict', ({ verdict }) => verdictText(verdict) ?? 'valid'],
];

const text = (value: number | undefined): string => (value === undefined ? '-' : digits(value));

export function copiesTable(rows: readonly Row[]): string {
  return ['Over the ocean', ...aligned([heads(COLUMNS), ...rows.map((row) => cells(COLUMNS, row))])].join(
    '\n',
  );
}

interface PathRow {
  readonly row: Row;
  readonly path: Path;
}

const PATH_COLUMNS: readonly Column<PathRow>[] = [
  ['', ({ row }) => nameOf(row).trim()],
  ['from, to', ({ path }) => `${path.from}, ${path.to}`],
  ['p50 ms', ({ path }) => digits(path.latencyMs.p50)],
  ['p95 ms', ({ path }) => digits(path.latencyMs.p95)],
  ['jitter ms', ({ path }) => digits(path.jitterMs)],
  ['network one way ms', ({ path }) => digits(networkMs(path))],
  ['p50 above it', ({ path }) => digits(path.latencyMs.p50 - networkMs(path))],
];

export function pathsTable(rows: readonly Row[]): string {
  const all = rows.flatMap((row) => row.outcome.paths.map((path) => ({ row, path })));
  const lines = all.map((row) => cells(PATH_COLUMNS, row));
  return ['Delays of frames, from making to arrival', ...aligned([heads(PATH_COLUMNS), ...lines])].join('\n');
}

export function topicTable({ messages, bytes, readers }: Topic): string {
  const lines = readers.map((one) => [
    one.region,
    String(one.readers),
    text(one.copies),
    digits(one.p50),
    digits(one.p95),
  ]);
  const head = ['to', 'readers', 'copies', 'p50 ms', 'p95 ms'];
  return [`A topic of eu: ${messages} messages of ${bytes} B`, ...aligned([head, ...lines])].join('\n');
}

/** Of the rows that have a result. */
export function panelsOf(all: readonly Row[], topic: Topic): Panel[] {
  const rows = all.filter(({ verdict }) => verdict.verdict === 'valid');
  const copies = rows.filter(({ scenario }) => scenario.ocean !== undefined);
  const paths = rows
    .filter(({ scenario }) => scenario.ocean === undefined)
    .flatMap((row) => row.outcome.paths.filter(({ from }) => from === 'eu').map((path) => ({ row, path })));
  const crossing = topic.readers.filter(({ copies }) => copies !== undefined);
  const panels = [
    {
      title: 'Copies over the ocean',
      note: 'bytes over links between the two regions per published byte; grey: all at one relay, in the region of the publishers',
      bars: [
        ...copies.map((row) => barOf(shortName(row), copiesIn(row) ?? 0, !row.isControl)),
        ...crossing.map(({ region, copies }) => barOf(`a topic, to ${region}`, copies ?? 0, true)),
      ],
    },
    {
      title: 'Delay of frames in a session over three regions, median',
      note: 'ms, from making to arrival, of people in eu; grey: all at one relay in us',
      bars: paths.map(({ row, path }) =>
        barOf(`${path.from} to ${path.to}`, path.latencyMs.p50, !row.isControl),
      ),
    },
  ];
  return panels.filter(({ bars }) => bars.length > 0);
}

const shortName = ({ scenario, isControl }: Row): string =>
  isControl ? 'control' : (scenario.name.split(',')[0]?.replace(' in us watch', ' watch') ?? '');

const heads = <Result>(columns: readonly Column<Result>[]): string[] => columns.map(([head]) => head);

const cells = <Result>(columns: readonly Column<Result>[], result: Result): string[] =>
  columns.map(([, cell]) => cell(result));
