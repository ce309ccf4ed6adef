/** Measures the rows of a comparison: the contestants take turns, round by round. */
import type { Contestant, Run } from './comparison.ts';
import { digits } from './columns.ts';
import { QUIET_CORES, verdictText, type Verdict } from './verdict.ts';

/** How one bench measures a row. */
export interface Bench<Name extends string, Row, Outcome, Server> {
  readonly contestants: readonly Contestant<Name>[];
  readonly rounds: number;
  /** How many rounds of a row may be run again because the machine was not quiet. */
  readonly repeats: number;
  readonly startServer: (name: Name, row: Row) => Promise<Server>;
  readonly measure: (row: Row, server: Server) => Promise<Outcome>;
  readonly judge: (outcome: Outcome) => Verdict;
  readonly costOf: (row: Row, outcome: Outcome) => number;
}

/** Servers are new for each row, so that memory is that row's. `disturbed`: rounds that were run again. */
export async function measureRow<
  Name extends string,
  Row extends { readonly name: string; readonly title: string; readonly unit: string },
  Outcome extends { readonly othersUse: number },
  Server extends { close(): Promise<void> },
>(row: Row, bench: Bench<Name, Row, Outcome, Server>) {
  console.log(`\n${row.title}`);
  const servers: { readonly contestant: Contestant<Name>; readonly server: Server }[] = [];
  for (const contestant of bench.contestants) {
    servers.push({ contestant, server: await bench.startServer(contestant.name, row) });
  }
  const runs: Run<Name, Outcome>[] = [];
  const disturbed: Run<Name, Outcome>[] = [];
  for (let round = 1, repeats = 0; round <= bench.rounds; round += 1) {
    const tries: Run<Name, Outcome>[] = [];
    for (const { contestant, server } of servers) {
      const outcome = await bench.measure(row, server);
      const verdict = bench.judge(outcome);
      tries.push({ row: row.name, server: contestant.name, round, outcome, verdict });
      const text = verdictText(verdict) ?? `${digits(bench.costOf(row, outcome))} ${row.unit}`;
      console.log(`  round ${round}  ${contestant.label.padEnd(18)} ${text}`);
    }
    const isQuiet = tries.every(({ outcome }) => outcome.othersUse <= QUIET_CORES);
    if (isQuiet || repeats === bench.repeats) runs.push(...tries);
    else {
      // Only what the others used decides, not the outcome.
      disturbed.push(...tries);
      repeats += 1;
      round -= 1;
      console.log('  the machine was not quiet: once more');
    }
  }
  for (const { server } of servers) await server.close();
  return { runs, disturbed };
}
