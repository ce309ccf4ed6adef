/** Servers that take turns under the same load, round by round: what the benches of streams and of media share. */
import { digits, doubtOf, percent, resultLines, spread, type Column } from './columns.ts';
import type { Bar, Panel } from './plot.ts';
import { ratiosOf, spreadOf, type Spread } from './statistics.ts';
import { notValid, type Verdict } from './verdict.ts';

export interface Contestant<Name extends string> {
  readonly name: Name;
  readonly label: string;
}

/** What is compared on one row. The first contestant is the reference: each ratio is relative to its cost. */
export interface Comparison<Name extends string, Row, Outcome, More extends object> {
  readonly contestants: readonly Contestant<Name>[];
  /** In the unit of the row. */
  readonly costOf: (row: Row, outcome: Outcome) => number;
  /** Figures that the bench adds to those of [`Result`]. */
  readonly figures: (outcomes: readonly Outcome[]) => More;
}

/** The fields of an outcome that every comparison needs. */
export interface CommonOutcome {
  /** The measured part; latency and processor time are of it, too. */
  readonly steady: { readonly seconds: number; readonly delivered: number; readonly bytes: number };
  readonly latencyMs: { readonly p50: number; readonly p99: number };
  /** Share of its core. */
  readonly generator: { readonly share: number };
  /** Memory at the end. */
  readonly server: { readonly cpuSeconds: number; readonly residentKb: number };
  /** What neither the servers nor the generator used, in cores, over the whole run. The bench itself finds that out. */
  readonly othersUse: number;
}

export interface Run<Name extends string, Outcome> {
  readonly row: string;
  readonly server: Name;
  readonly round: number;
  readonly outcome: Outcome;
  readonly verdict: Verdict;
}

export interface Result<Name extends string = string> {
  readonly server: Name;
  readonly label: string;
  /** In the unit of the row. */
  readonly cost: Spread;
  /** `cost` over the reference's, round by round. */
  readonly ratio: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  readonly rssMb: Spread;
  readonly serverUse: number;
  readonly generatorUse: number;
  readonly othersUse: number;
  /** Why there is no result; the numbers above are then invalid. */
  readonly spoilt: string | undefined;
}

interface CommonRow {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
}

export interface RowSummary<Row, OneResult> {
  readonly row: Row;
  readonly results: readonly OneResult[];
}

/** The results of all contestants that were measured. */
export function summarize<
  Name extends string,
  Row extends CommonRow,
  Outcome extends CommonOutcome,
  More extends object,
>(
  row: Row,
  runs: readonly Run<Name, Outcome>[],
  { contestants, costOf, figures }: Comparison<Name, Row, Outcome, More>,
): RowSummary<Row, Result<Name> & More> {
  const of = (server: Name | undefined) =>
    runs.filter((run) => run.row === row.name && run.server === server);
  const costs = (some: readonly Run<Name, Outcome>[]) => some.map(({ outcome }) => costOf(row, outcome));
  const reference = of(contestants[0]?.name);
  const results = contestants
    .filter(({ name }) => of(name).length > 0)
    .map(({ name, label }) => {
      const own = of(name);
      const outcomes = own.map(({ outcome }) => outcome);
      return {
        server: name,
        label,
        cost: spreadOf(costs(own)),
        ratio: spreadOf(ratiosOf(costs(own), costs(reference))),
        ...figures(outcomes),
        ...commonFigures(outcomes),
        spoilt: notValid([...own, ...reference]),
      };
    });
  return { row, results };
}

function commonFigures(outcomes: readonly CommonOutcome[]) {
  const spreadOver = (value: (outcome: CommonOutcome) => number): Spread => spreadOf(outcomes.map(value));
  return {
    p50Ms: spreadOver(({ latencyMs }) => latencyMs.p50),
    p99Ms: spreadOver(({ latencyMs }) => latencyMs.p99),
    rssMb: spreadOver(({ server }) => server.residentKb / 1024),
    serverUse: spreadOver(({ server, steady }) => server.cpuSeconds / steady.seconds).median,
    generatorUse: Math.max(...outcomes.map(({ generator }) => generator.share)),
    othersUse: Math.max(...outcomes.map(({ othersUse }) => othersUse)),
  };
}

/** `columns`: those that the bench adds. `goal` is the last line. */
export function tableOf<OneResult extends Result>(
  { row, results }: RowSummary<CommonRow, OneResult>,
  { columns, reference, goal }: { columns: readonly Column<OneResult>[]; reference: string; goal: string },
): string {
  const all: readonly Column<OneResult>[] = [
    [row.unit, ({ cost }) => spread(cost)],
    [`x ${reference}`, ({ ratio }) => spread(ratio)],
    ['p50 ms', ({ p50Ms }) => digits(p50Ms.median)],
    ['p99 ms', ({ p99Ms }) => digits(p99Ms.median)],
    ...columns,
    ['RSS MB', ({ rssMb }) => digits(rssMb.median)],
    ['server', ({ serverUse }) => percent(serverUse)],
    ['generator', ({ generatorUse }) => percent(generatorUse)],
    ['others', ({ othersUse }) => percent(othersUse)],
  ];
  return [row.title, ...resultLines(results, all), goal].join('\n');
}

/** "reached", "MISSED", or "no result" if there is no ratio. */
export function goalText(
  results: readonly Result[],
  isReached: (result: Result) => boolean,
): 'reached' | 'MISSED' | 'no result' {
  const parley = results.find(({ server }) => server === 'parley');
  if (parley === undefined || parley.spoilt !== undefined || Number.isNaN(parley.ratio.median)) {
    return 'no result';
  }
  return isReached(parley) ? 'reached' : 'MISSED';
}

export function doubtsOf(summaries: readonly RowSummary<CommonRow, Result>[]): string[] {
  return summaries.flatMap(({ row, results }) => doubtOf(row.name, results));
}

export function panelOf({ row, results }: RowSummary<CommonRow, Result>, reference: string): Panel {
  const [head = '', ...more] = row.title.split(': ');
  const bars = results.map(({ server, label, cost, ratio }): Bar => ({
    label,
    value: cost,
    own: cost.median,
    text: `${digits(cost.median)}  (${digits(ratio.median)} x ${reference})`,
    isOurs: server === 'parley',
  }));
  return { title: `${head}, ${row.unit}`, note: more.join(': '), bars };
}
